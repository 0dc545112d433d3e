#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/audit/audit_entry.hpp"
#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::daemon {

/// Decides which refusals get a line of their own: the first few of each address or token in a minute. The
/// other refusals of that minute are counted, and have one line together. So unknown clients cause a bounded
/// number of lines.
///
/// Pure. Cost: O(log sources).
class RefusalCounts {
 public:
  static constexpr unsigned first_few = 5;            ///< Lines per source and minute.
  static constexpr unsigned most_lines = 300;         ///< Lines of all sources per minute.
  static constexpr std::size_t most_sources = 1'000;  ///< Sources beyond this number are counted together.
  static constexpr engine::Duration minute = engine::Duration::seconds(60);
  static constexpr const char* other_sources = "others";  ///< AuditEntry::from of these sources.

  /// Whether the refusal gets a line of its own.
  [[nodiscard]] bool take(const AuditEntry& entry);

  /// Lines for the counts of minutes that are over at `now`.
  [[nodiscard]] std::vector<AuditEntry> sums(engine::Instant now);
  /// Lines for all counts.
  [[nodiscard]] std::vector<AuditEntry> all_sums();

 private:
  struct Source {
    std::int64_t since = 0;  ///< Time, as AuditEntry::at.
    unsigned lines = 0;
    AuditEntry sum{};  ///< Has the count so far.
  };
  void count(Source& source, const AuditEntry& entry);

  std::map<std::string, Source> sources_;  ///< By token or address.
  std::int64_t minute_began_ = 0;          ///< The minute that lines_ counts.
  unsigned lines_ = 0;
};

}  // namespace hpsearch::daemon
