#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/audit/audit_entry.hpp"
#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::daemon {

/// Which refusals have a line of their own: the first few of each address or token in a minute. The others of
/// that minute are counted, and have one line together. So strangers, who may ask as often as they like,
/// cause a bounded number of lines.
///
/// Pure. Cost: O(log sources).
class RefusalCounts {
 public:
  static constexpr unsigned first_few = 5;            ///< Of a source, in a minute.
  static constexpr unsigned most_lines = 300;         ///< Of all sources, in a minute.
  static constexpr std::size_t most_sources = 1'000;  ///< Those beyond are counted together.
  static constexpr engine::Duration minute = engine::Duration::seconds(60);
  static constexpr const char* other_sources = "others";  ///< AuditEntry::from of those.

  /// Whether it gets a line of its own.
  [[nodiscard]] bool take(const AuditEntry& entry);

  /// Lines for what was counted in minutes that are over at `now`.
  [[nodiscard]] std::vector<AuditEntry> sums(engine::Instant now);
  /// For all that was counted.
  [[nodiscard]] std::vector<AuditEntry> all_sums();

 private:
  struct Source {
    std::int64_t since = 0;  ///< As AuditEntry::at.
    unsigned lines = 0;
    AuditEntry sum{};  ///< With how many were counted.
  };
  void count(Source& source, const AuditEntry& entry);

  std::map<std::string, Source> sources_;  ///< By token or address.
  std::int64_t minute_began_ = 0;          ///< Of lines_.
  unsigned lines_ = 0;
};

}  // namespace hpsearch::daemon
