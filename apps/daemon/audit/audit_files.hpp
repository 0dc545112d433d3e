#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "daemon/audit/audit_entry.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon {

/// The audit log of a state directory: audit.jsonl and its older parts audit.jsonl.1, .2, … (mode 0600), each
/// up to most_bytes and at most most_parts of them. A line that a crash cut off was never answered; it is
/// removed at the next start.
///
/// Threads: one at a time.
class AuditFiles {
 public:
  static constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20U;
  static constexpr unsigned most_parts = 10;

  /// `part_bytes`: when a part is full; tests make it small. unavailable: the file can't be opened or
  /// written.
  [[nodiscard]] static engine::Result<AuditFiles> open(const std::string& directory,
                                                       std::uint64_t part_bytes = most_bytes);
  AuditFiles(AuditFiles&& other) noexcept;
  AuditFiles& operator=(AuditFiles&&) = delete;
  AuditFiles(const AuditFiles&) = delete;
  ~AuditFiles();

  /// All of them, durable on return, or none. unavailable: why not.
  [[nodiscard]] engine::Status append(std::span<const AuditEntry> entries);

  /// Lines behind number `after`, oldest first, at most `limit`.
  [[nodiscard]] static engine::Result<std::vector<engine::Value>> read(const std::string& directory,
                                                                       std::uint64_t after,
                                                                       std::size_t limit);

  struct Verdict {
    std::uint64_t lines = 0;
    AuditLink last;
    std::string problem;  ///< "audit.jsonl, line 7: …"; "" = the chain is whole.
  };
  /// `holds`: the hash of a line that was there before, for a log whose last lines may have been cut off; ""
  /// = none is known. not_found: there is no audit log. Cost: reads all of it.
  [[nodiscard]] static engine::Result<Verdict> verify(const std::string& directory,
                                                      const std::string& holds = "");

 private:
  AuditFiles(std::string path, std::uint64_t part_bytes) : path_(std::move(path)), part_bytes_(part_bytes) {}
  [[nodiscard]] engine::Status begin_part();
  [[nodiscard]] engine::Status make_way();

  std::string path_;
  std::uint64_t part_bytes_;
  int file_ = -1;
  std::uint64_t bytes_ = 0;  ///< That are whole lines.
  AuditLink last_;
};

}  // namespace hpsearch::daemon
