#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "daemon/store/files/file_sync.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::daemon {

/// The daemon that has a state directory, for daemons on other hosts, which may not see its locks.
struct OwnerRecord {
  std::string host;     ///< Name of the host.
  std::string machine;  ///< /etc/machine-id, if it exists.
  std::string boot;     ///< Identifies the kernel's boot.
  std::int64_t pid = 0;
  std::uint64_t token = 0;  ///< Random for each daemon: no two write the same record.
  friend bool operator==(const OwnerRecord&, const OwnerRecord&) = default;
};

void spell(auto& fields, proto::Is<OwnerRecord> auto& record) {
  fields("host", record.host);
  fields.maybe("machine", record.machine);
  fields("boot", record.boot);
  fields("pid", record.pid);
  fields("token", record.token);
}

inline constexpr engine::Duration owner_renews_every = engine::Duration::seconds(30);
inline constexpr engine::Duration owner_counts_for = engine::Duration::seconds(300);

/// The record of this process, with a new token.
[[nodiscard]] OwnerRecord this_owner();

/// Whether a record that was renewed this long ago keeps `ours` out. A process of the same kernel is kept out
/// by locks instead, and a record from before its host was rebooted doesn't count.
[[nodiscard]] bool keeps_out(const OwnerRecord& found, engine::Duration since_renewed,
                             const OwnerRecord& ours) noexcept;

/// The valid record of another host's daemon in a state directory, and its age.
struct OwnerElsewhere {
  OwnerRecord owner;
  engine::Duration since_renewed;
};
/// Null if no such daemon has the directory. A record that cannot be read counts as one of "an unknown host".
/// unavailable: the file system refuses.
[[nodiscard]] engine::Result<std::optional<OwnerElsewhere>> owner_elsewhere(const std::string& directory,
                                                                            const OwnerRecord& ours);

/// The record as a file, DIR/owner.json; the file's modification time is the time of its renewal.
///
/// Threads: one at a time.
class OwnerFile {
 public:
  OwnerFile(const std::string& directory, OwnerRecord ours);

  /// Reads only. wrong_state: a daemon on another host has the directory, by its record or by a file that is
  /// not a record; the message contains until when.
  [[nodiscard]] engine::Status check_free() const;
  /// Writes our record. unavailable: it cannot be written.
  engine::Status take();
  /// Reads it back by its path, and renews it when due. corrupt: it belongs to another daemon. A record that
  /// was removed is written again.
  engine::Status renew();
  /// Removes it, if it is ours.
  void release() noexcept;

 private:
  [[nodiscard]] bool is_ours() const;

  std::string directory_;
  std::string path_;
  OwnerRecord ours_;
  Descriptor file_;
};

}  // namespace hpsearch::daemon
