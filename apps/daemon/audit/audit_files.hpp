#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "daemon/audit/audit_entry.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon {

/// The two audit logs of a state directory. Unknown clients can cause any number of refusals; since refusals
/// have a log of their own, they displace no change from the other log.
struct AuditKind {
  const char* name;          ///< Name of the newest part; older parts append .1, .2, ….
  std::uint64_t part_bytes;  ///< Size at which a part is full.
  unsigned most_parts;       ///< How many older parts are kept.
};
inline constexpr AuditKind audited_changes{"audit.jsonl", std::uint64_t{64} << 20U, 10};
inline constexpr AuditKind audited_refusals{"refusals.jsonl", std::uint64_t{16} << 20U, 3};

/// One audit log, mode 0600. A request whose line a crash cut off was not answered; the next start removes
/// that line.
///
/// Threads: one at a time. read() and verify() may be called while another process writes the log.
class AuditFiles {
 public:
  /// unavailable: the file can't be opened or written.
  [[nodiscard]] static engine::Result<AuditFiles> open(const std::string& directory, const AuditKind& kind);
  AuditFiles(AuditFiles&& other) noexcept;
  AuditFiles& operator=(AuditFiles&&) = delete;
  AuditFiles(const AuditFiles&) = delete;
  ~AuditFiles();

  /// Appends all entries, durable on return, or none. unavailable: with the reason.
  [[nodiscard]] engine::Status append(std::span<const AuditEntry> entries);

  /// Lines after number `after`, oldest first, at most `limit`.
  [[nodiscard]] static engine::Result<std::vector<engine::Value>> read(const std::string& directory,
                                                                       const AuditKind& kind,
                                                                       std::uint64_t after,
                                                                       std::size_t limit);

  struct Verdict {
    std::uint64_t lines = 0;
    AuditLink last;
    std::string problem;  ///< "audit.jsonl, line 7: …"; "" = the chain is whole.
  };
  /// `holds`: the hash of an earlier line, to check a log whose last lines may have been cut off; "" = none
  /// is known. not_found: there is no audit log. Cost: reads all of it.
  [[nodiscard]] static engine::Result<Verdict> verify(const std::string& directory, const AuditKind& kind,
                                                      const std::string& holds = "");

 private:
  AuditFiles(std::string path, const AuditKind& kind) : path_(std::move(path)), kind_(kind) {}
  [[nodiscard]] engine::Status begin_part();
  [[nodiscard]] engine::Status make_way();

  std::string path_;
  AuditKind kind_;
  int file_ = -1;
  std::uint64_t bytes_ = 0;  ///< Bytes of whole lines.
  AuditLink last_;
};

}  // namespace hpsearch::daemon
