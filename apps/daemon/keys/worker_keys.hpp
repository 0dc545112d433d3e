#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// A worker that may speak to a daemon. A name may have several keys, while one takes the place of another.
struct WorkerKey {
  std::string name;  ///< What the worker is called, whatever it says itself. Letters, digits, '.', '_' and
                     ///< '-'; at most 64.
  std::string key;   ///< Its public CURVE key (hpsearch/io/zmq/curve.hpp).
};

/// The file that says which workers may speak to a daemon: one "NAME KEY" a line; empty lines and those that
/// begin with
/// '#' are passed over. It is no less than root on every worker's machine, therefore only its owner may write
/// it.
class WorkerKeys {
 public:
  /// Those of a daemon's state directory. None are allowed while there is no file.
  explicit WorkerKeys(std::string state_directory);

  /// The worker whose key this is, as the file says now; a line of it that cannot be read allows nobody, and
  /// is said in the log. Threads: any. Cost: one stat(), and reading the file whenever it has changed.
  [[nodiscard]] std::optional<std::string> name_of(const std::string& key);

  /// Another number whenever the file has changed. Threads: any. Cost: as name_of().
  [[nodiscard]] std::uint64_t version();

  /// All of the file, in its order. corrupt: a line that cannot be read, by its number.
  [[nodiscard]] engine::Result<std::vector<WorkerKey>> list() const;
  /// Durable on return; a running daemon goes by it from the next connection on.
  /// bad_request: no name or no key; wrong_state: the key is another name's; otherwise as list().
  engine::Status allow(const WorkerKey& worker);
  /// Takes a key away, or all of a name, and says how many; sessions of theirs end within a second.
  /// not_found: there is none; otherwise as list().
  engine::Result<std::size_t> deny(const std::string& name_or_key);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  /// Differs between a file and the one that was there before.
  struct Stamp {
    std::uint64_t inode = 0;
    std::int64_t size = -1;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };

  [[nodiscard]] Stamp stamp() const noexcept;
  void read_if_changed();  ///< With the mutex held.
  engine::Status write(const std::vector<WorkerKey>& all) const;

  std::string path_;
  std::mutex mutex_;
  Stamp read_;
  std::string problem_;  ///< Of the last try to read it; "" if it was read. Each one is logged once.
  std::uint64_t version_ = 0;
  std::map<std::string, std::string> names_;  // By key.
};

}  // namespace hpsearch::daemon
