#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/backup/sealed_keys.hpp"
#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/encoding/spelling.hpp"

namespace hpsearch::daemon {

/// The files without which the workers and clients of a state directory are locked out, or its secrets cannot
/// be opened. A backup has them sealed, in keys.sealed.
inline constexpr std::array key_file_names = {"secrets.key",   "curve.key", "worker_keys", "tokens.json",
                                              "sessions.json", "tls.crt",   "tls.key"};

/// The file that makes a directory a backup; it is written last.
inline constexpr const char* backup_record_name = "backup.json";

/// The content of that file.
struct BackupRecord {
  engine::Lsn last_lsn;                      ///< The last event in the copy of the store.
  std::int64_t made_at = 0;                  ///< Wall clock, in microseconds.
  bool has_keys = false;                     ///< Whether the backup has keys.sealed.
  std::map<std::string, std::string> files;  ///< SHA-256 of every other file, by its path in the backup.
};

void spell(auto& fields, proto::Is<BackupRecord> auto& record) {
  fields("last_lsn", record.last_lsn);
  fields("made_at", record.made_at);
  fields("has_keys", record.has_keys);
  fields("files", record.files);
}

/// A backup while it is made, in a directory of its own:
///
///     events.db  keys.sealed  contexts/SHA256.tar  audit.jsonl, audit.jsonl.1 …  backup.json
///
/// It is made as `PATH.unfinished`, and is renamed when it is whole, checked and durable. All files are for
/// their owner only.
///
/// Owns:    the unfinished directory, which its destructor removes.
class NewBackup {
 public:
  /// First removes the rest of an earlier unfinished backup. wrong_state: something is at `path`, or the
  /// unfinished directory has files that don't belong to a backup; unavailable: it cannot be made.
  [[nodiscard]] static engine::Result<NewBackup> begin(const std::string& path);
  NewBackup(NewBackup&& other) noexcept;
  NewBackup& operator=(NewBackup&&) = delete;
  ~NewBackup();

  /// Where the copy of the store must be before finish().
  [[nodiscard]] std::string events() const { return draft_ + "/events.db"; }

  /// Copies contexts (blobs_of()), audit log and, sealed with `key` if there is one, the keys of the state
  /// directory; reads all of it again; and gives the backup its name. unavailable: it cannot be read or
  /// written; corrupt: a context doesn't match its digest, or a file reads differently from what was written.
  engine::Status finish(const std::string& state_directory, const std::optional<BackupKey>& key,
                        engine::Lsn last_lsn, engine::Instant wall_clock);

 private:
  explicit NewBackup(std::string path) : path_(std::move(path)), draft_(path_ + ".unfinished") {}

  std::string path_;
  std::string draft_;
};

/// corrupt: it is damaged; the message begins with `path`.
[[nodiscard]] engine::Result<BackupRecord> parse_backup_record(std::string_view json,
                                                               const std::string& path);

/// Null: the directory is not a backup. corrupt: its record is damaged.
[[nodiscard]] engine::Result<std::optional<BackupRecord>> read_backup_record(const std::string& directory);

/// Checks that every file of the backup is unchanged. corrupt: names the first file that isn't.
[[nodiscard]] engine::Status check_backup_files(const std::string& directory, const BackupRecord& record);

/// The keys of a backup that has some. Errors as open_keys().
[[nodiscard]] engine::Result<KeyFiles> open_sealed_keys(const std::string& directory, const BackupKey& key);

/// The key files of a state directory. unavailable: one cannot be read.
[[nodiscard]] engine::Result<KeyFiles> keys_in(const std::string& state_directory);

/// Writes key files into a state directory, for its owner only; existing files stay. bad_request: a name is
/// not one of a key file.
[[nodiscard]] engine::Status put_keys(const KeyFiles& keys, const std::string& state_directory);

/// Copies contexts and audit log, which need no key, from a backup or a state directory; existing files stay.
/// corrupt: a context doesn't match its digest.
[[nodiscard]] engine::Status copy_open_files(const std::string& from, const std::string& to);

}  // namespace hpsearch::daemon
