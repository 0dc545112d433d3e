#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "daemon/store/files/durable_file.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::daemon {

/// Which daemon has a state directory, for daemons on other hosts, which may not see its locks.
struct OwnerRecord {
  std::string host;     ///< As it calls itself.
  std::string machine;  ///< /etc/machine-id, where there is one.
  std::string boot;     ///< Of the kernel's start.
  std::int64_t pid = 0;
  std::uint64_t token = 0;  ///< Drawn by each daemon: no two write the same record.
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

/// Of this process, with a new token.
[[nodiscard]] OwnerRecord this_owner();

/// Whether a record that was renewed so long ago keeps `ours` out. Another process of the same kernel has its
/// locks to do that, and what a host wrote before it was started anew says nothing.
[[nodiscard]] bool keeps_out(const OwnerRecord& found, engine::Duration since_renewed,
                             const OwnerRecord& ours) noexcept;

/// What another host's daemon that counts has written in a state directory, and how long ago.
struct OwnerElsewhere {
  OwnerRecord owner;
  engine::Duration since_renewed;
};
/// Nothing where no such daemon has the directory. A record that cannot be read counts as one of "an unknown
/// host". unavailable: the file system refuses.
[[nodiscard]] engine::Result<std::optional<OwnerElsewhere>> owner_elsewhere(const std::string& directory,
                                                                            const OwnerRecord& ours);

/// The record as a file, DIR/owner.json; when it was renewed is when the file was changed.
///
/// Threads: one at a time.
class OwnerFile {
 public:
  OwnerFile(const std::string& directory, OwnerRecord ours);

  /// Looks only. wrong_state: a daemon on another host has the directory, by its record or by a file that
  /// is none, and says until when.
  [[nodiscard]] engine::Status check_free() const;
  /// Ours from now on. unavailable: it cannot be written.
  engine::Status take();
  /// Reads it back by its path, and says that we are still there when that is due. corrupt: it is another
  /// daemon's. A record that was removed is written again.
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
