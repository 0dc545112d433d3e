#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/keys/shared_file.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// A worker that may connect to a daemon. A name may have several keys while one replaces another.
struct WorkerKey {
  std::string name;  ///< The worker's name; the name in its messages is ignored. Letters, digits, '.', '_'
                     ///< and '-'; at most 64.
  std::string key;   ///< Its public CURVE key (hpsearch/io/zmq/curve.hpp).
};

/// Whether the text can be WorkerKey::name.
[[nodiscard]] bool is_worker_name(std::string_view name) noexcept;

/// The file with the workers that may connect to a daemon: one "NAME KEY" per line; empty lines and lines
/// that begin with '#' are skipped. Anyone who can write it can run programs on every worker's machine, so
/// only its owner may write it.
class WorkerKeys {
 public:
  /// The file in a daemon's state directory. While there is no file, no worker is allowed.
  explicit WorkerKeys(std::string state_directory);

  /// The worker with this key, as the file is now; a line that cannot be read allows no worker, and is
  /// logged. Threads: any. Cost: one stat(), and reading the file whenever it has changed.
  [[nodiscard]] std::optional<std::string> name_of(const std::string& key);

  /// Changes whenever the file has changed. Threads: any. Cost: as name_of().
  [[nodiscard]] std::uint64_t version();

  /// All of the file, in its order. corrupt: a line that cannot be read, by its number.
  [[nodiscard]] engine::Result<std::vector<WorkerKey>> list() const;
  /// Durable on return; a running daemon uses it from the next connection on. bad_request: not a name or not
  /// a key; wrong_state: the key belongs to another name; otherwise as list().
  engine::Status allow(const WorkerKey& worker);
  /// Removes a key, or all keys of a name, and returns how many; their sessions end within a second.
  /// not_found: there is none; otherwise as list().
  engine::Result<std::size_t> deny(const std::string& name_or_key);

  /// From now on allow() and deny() keep the keys elsewhere as well. Call it before they are used.
  void keep_as_well(KeepAsWell keep) { keep_ = std::move(keep); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  void read_if_changed();  ///< The caller must hold the mutex.
  engine::Status write(const std::vector<WorkerKey>& all) const;

  std::string path_;
  KeepAsWell keep_;  ///< Null: nowhere else.
  std::mutex mutex_;
  FileStamp read_;
  std::string problem_;  ///< From the last try to read it; "" = none. Each problem is logged once.
  std::uint64_t version_ = 0;
  std::map<std::string, std::string> names_;  // By key.
};

}  // namespace hpsearch::daemon
