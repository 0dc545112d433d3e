#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "daemon/backup/sealed_keys.hpp"
#include "daemon/store/postgresql/connection.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// The files of a state directory that all daemons of a store in a database need. Sessions of browsers are
/// not among them: people sign in again.
inline constexpr std::array stored_key_names = {"secrets.key",  "curve.key", "worker_keys", "tokens.json",
                                                "invites.json", "tls.crt",   "tls.key"};

/// Whether daemons keep keys in the database of a store. Errors as Connection.
[[nodiscard]] engine::Result<bool> has_stored_keys(const DatabaseUrl& url);

/// The keys of a daemon, sealed in the database of its store, so that they survive its machine. The database
/// has the truth: a daemon that takes the store fetches them into its state directory, where the daemon and
/// commands beside it use them as files. What changes here goes there while the daemon has the store.
///
/// The file `stored_keys` has the digests on which file and database last agreed: what was changed here while
/// no daemon ran is distinguished from what is old.
///
/// Owns:    a connection; a thread that looks for changed files every second.
/// Threads: any.
class StoredKeys {
 public:
  /// `say` is called on any thread, with the problem of storing a change; not again for the same problem.
  StoredKeys(DatabaseUrl url, BackupKey key, std::string state_directory,
             std::function<void(const std::string& problem)> say);
  StoredKeys(const StoredKeys&) = delete;
  StoredKeys& operator=(const StoredKeys&) = delete;
  ~StoredKeys();

  /// Changes nothing. bad_request: the database has keys that were sealed with another key file; otherwise as
  /// Connection.
  [[nodiscard]] engine::Status check();

  /// Writes the files that are newer in the database, and returns their names. Errors as check();
  /// unavailable: a file can't be written.
  [[nodiscard]] engine::Result<std::vector<std::string>> fetch();

  /// From now on the store is this daemon's, as its start `epoch`: stores what is new here, and each change.
  /// wrong_state: another daemon has taken the store; otherwise as Connection.
  [[nodiscard]] engine::Status begin(std::uint64_t epoch);

  /// Stores a new content of a file, and then calls `write`, which writes the file. If it can't be stored, it
  /// isn't written. After an error of `write` the database gets the old content again.
  [[nodiscard]] engine::Status keep(const std::string& name, std::string_view content,
                                    const std::function<engine::Status()>& write);

 private:
  using Digests = std::map<std::string, std::string>;

  [[nodiscard]] static Digests digests_of(const KeyFiles& files);
  [[nodiscard]] engine::Result<KeyFiles> files_here() const;
  [[nodiscard]] engine::Result<std::optional<KeyFiles>> read();
  [[nodiscard]] engine::Status store(const KeyFiles& files);
  [[nodiscard]] engine::Status look();
  [[nodiscard]] Digests agreed_before() const;
  [[nodiscard]] engine::Status agree(const Digests& digests);
  void run();

  const BackupKey key_;
  const std::string directory_;
  const std::function<void(const std::string&)> say_;
  std::mutex mutex_;  ///< Guards all below; held while the database answers.
  Connection connection_;
  std::uint64_t epoch_ = 0;
  std::optional<Digests> stored_;  ///< What the database has; null: unknown.
  std::optional<Digests> agreed_;  ///< As in the file.
  std::mutex ending_;
  std::condition_variable ends_;
  bool stopping_ = false;
  std::thread thread_;  // Last: it uses everything above.
};

}  // namespace hpsearch::daemon
