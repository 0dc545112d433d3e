#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "daemon/backup/sealed_keys.hpp"
#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/encoding/spelling.hpp"

namespace hpsearch::daemon {

/// The files of a state directory without which its workers and clients are locked out, or its secrets stay
/// sealed. A backup has them sealed, in keys.sealed.
inline constexpr std::array key_file_names = {"secrets.key",   "curve.key", "worker_keys", "tokens.json",
                                              "sessions.json", "tls.crt",   "tls.key"};

/// The content of backup.json, which is written last.
struct BackupRecord {
  engine::Lsn last_lsn;                      ///< Of its events.
  std::int64_t made_at = 0;                  ///< Wall clock, in microseconds.
  bool has_keys = false;                     ///< Whether keys.sealed is there.
  std::map<std::string, std::string> files;  ///< SHA-256 of every other file, by its path in the backup.
};

void spell(auto& fields, proto::Is<BackupRecord> auto& record) {
  fields("last_lsn", record.last_lsn);
  fields("made_at", record.made_at);
  fields("has_keys", record.has_keys);
  fields("files", record.files);
}

/// A backup while it is made, a directory of its own:
///
///     events.db  keys.sealed  contexts/SHA256.tar  audit.jsonl, audit.jsonl.1 …  backup.json
///
/// It is made under another name, `PATH.unfinished`, and gets its own when it is whole, checked and durable.
/// All files are for their owner only.
///
/// Owns:    the unfinished directory, which goes when this goes.
class NewBackup {
 public:
  /// Removes the rest of an earlier unfinished backup first. wrong_state: something is at `path`, or the
  /// unfinished directory has files that are no backup's; unavailable: it cannot be made.
  [[nodiscard]] static engine::Result<NewBackup> begin(const std::string& path);
  NewBackup(NewBackup&& other) noexcept;
  NewBackup& operator=(NewBackup&&) = delete;
  ~NewBackup();

  /// Where the copy of the store has to be put before finish().
  [[nodiscard]] std::string events() const { return draft_ + "/events.db"; }

  /// Copies contexts, audit log and, sealed with `key` if there is one, the keys of the state directory;
  /// reads all of it again; and gives the backup its name. unavailable: it cannot be read or written;
  /// corrupt: a context isn't what its name says, or a file was written otherwise than it is read.
  engine::Status finish(const std::string& state_directory, const std::optional<BackupKey>& key,
                        engine::Lsn last_lsn, engine::Instant wall_clock);

 private:
  explicit NewBackup(std::string path) : path_(std::move(path)), draft_(path_ + ".unfinished") {}

  std::string path_;
  std::string draft_;
};

/// Nothing: the directory is no backup. corrupt: its record is damaged.
[[nodiscard]] engine::Result<std::optional<BackupRecord>> read_backup_record(const std::string& directory);

/// Whether every file of the backup is there, as it was written. corrupt, naming the file: not so.
[[nodiscard]] engine::Status check_backup_files(const std::string& directory, const BackupRecord& record);

/// The keys of a backup that has some. As open_keys().
[[nodiscard]] engine::Result<KeyFiles> open_sealed_keys(const std::string& directory, const BackupKey& key);

/// The key files of a state directory. unavailable: one cannot be read.
[[nodiscard]] engine::Result<KeyFiles> keys_in(const std::string& state_directory);

/// Writes key files into a state directory, for its owner only; one that is there stays. bad_request: a name
/// is no key file's.
[[nodiscard]] engine::Status put_keys(const KeyFiles& keys, const std::string& state_directory);

/// Copies what needs no key, contexts and audit log, from a backup or a state directory; a file that is there
/// already stays. corrupt: a context isn't what its name says.
[[nodiscard]] engine::Status copy_open_files(const std::string& from, const std::string& to);

}  // namespace hpsearch::daemon
