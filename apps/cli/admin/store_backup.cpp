#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "cli/admin/store_place.hpp"
#include "cli/client/client.hpp"
#include "cli/client/state_directory.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "daemon/backup/backup_address.hpp"
#include "daemon/backup/backup_place.hpp"
#include "daemon/backup/backup_set.hpp"
#include "daemon/backup/sealed_keys.hpp"
#include "daemon/store/tools/closed_store.hpp"
#include "daemon/store/tools/last_backup.hpp"
#include "daemon/store/tools/salvage.hpp"
#include "daemon/store/tools/store_seal.hpp"
#include "hpsearch/io/files/hidden_line.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;

using daemon::BackupKey;
using daemon::BackupRecord;
using daemon::KeyFiles;
using daemon::NewBackup;
using engine::Done;
using engine::Errc;
using engine::Value;

// A backup is copied as fast as the disk allows, and the daemon answers when it is done.
constexpr std::chrono::minutes backup_patience{60};

enum class Times { once, twice };

Outcome<BackupKey> ask_passphrase(Times times) {
  BackupKey key{files::read_hidden_line("Passphrase of the backup: ")};
  if (key.secret.empty()) {
    return usage_failure("the passphrase is empty");
  }
  if (times == Times::twice && ::isatty(STDIN_FILENO) != 0 &&
      files::read_hidden_line("The same again: ") != key.secret) {
    return usage_failure("the passphrases differ");
  }
  return key;
}

/// Null if the keys must be left out.
Outcome<std::optional<BackupKey>> key_of(const StoreOptions& options, Times times,
                                         const std::string& none_given) {
  if (options.without_keys) {
    return std::optional<BackupKey>();
  }
  if (options.passphrase) {
    auto key = ask_passphrase(times);
    return key ? Outcome<std::optional<BackupKey>>(std::optional(*std::move(key))) : key.failure();
  }
  if (options.key_file.empty()) {
    return usage_failure(none_given);
  }
  auto key = BackupKey::in_file(options.key_file);
  return key ? Outcome<std::optional<BackupKey>>(std::optional(*std::move(key))) : failure_of(key.error());
}

/// Checks the chain of a copy, from beginning to end.
Outcome<engine::Lsn> check_copy(const fs::path& path) {
  auto store = daemon::ClosedStore::open(path);
  if (!store) {
    return failure_of(store.error());
  }
  const auto read = (*store)->read(
      [](const daemon::RecordView&, const engine::Event&) -> engine::Status { return Done{}; });
  if (!read) {
    return failure_of(engine::Error{read.error().code, path.string() + ": " + read.error().message});
  }
  return (*store)->last_lsn();
}

/// A copy that the daemon of a store in use has made, until the daemon gets a report about it.
class DaemonsCopy {
 public:
  static Outcome<DaemonsCopy> ask_for(const fs::path& directory) {
    const auto addresses = read_daemon_file(directory);
    if (!addresses) {
      return unreachable_failure("the daemon of " + directory.string() +
                                 " has no address yet; it may be starting");
    }
    Client client(addresses->socket);
    client.set_timeout(backup_patience);
    const auto answer = client.post("/api/v1/store/backup", Value::Map{});
    if (!answer) {
      return answer.failure();
    }
    return DaemonsCopy(addresses->socket, text_at(*answer, "path"));
  }
  DaemonsCopy(DaemonsCopy&& other) noexcept
      : socket_(std::move(other.socket_)), path_(std::exchange(other.path_, "")) {}
  DaemonsCopy& operator=(DaemonsCopy&&) = delete;
  ~DaemonsCopy() {
    if (!path_.empty()) {
      static_cast<void>(conclude(false));
    }
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// The daemon removes it, and counts it as a backup if `good`.
  Outcome<Value> conclude(bool good) {
    Client client(socket_);
    return client.post("/api/v1/store/backup/result",
                       Value::Map{{"path", std::exchange(path_, "")}, {"good", good}});
  }

 private:
  DaemonsCopy(std::string socket, std::string path) : socket_(std::move(socket)), path_(std::move(path)) {}

  std::string socket_;
  std::string path_;
};

/// A backup of a backup is not recorded for any daemon.
bool is_of_a_daemon(const StorePlace& place) {
  const auto record =
      place.directory ? daemon::read_backup_record(place.directory->string()) : std::optional<BackupRecord>();
  return place.directory && record && !*record;
}

}  // namespace

int store_backup(const StoreOptions& options, const Output& output) {
  const auto place = find_store(options.store);
  if (!place) {
    return output.fail(place.failure());
  }
  if (place->file.empty()) {
    return output.fail(
        usage_failure("a backup has the keys and files of the daemon, too: name its state "
                      "directory instead of " +
                      place->name()));
  }
  const auto key = key_of(options, Times::twice,
                          "a backup has the daemon's keys, sealed: give --key-file FILE (make one with: head "
                          "-c 32 /dev/urandom | base64 > FILE; keep it elsewhere), --passphrase, or "
                          "--without-keys");
  if (!key) {
    return output.fail(key.failure());
  }
  fs::path to = fs::absolute(options.to).lexically_normal();
  to = to.has_filename() ? to : to.parent_path();
  auto begun = NewBackup::begin(to.string());
  if (!begun) {
    return output.fail(failure_of(begun.error()));
  }
  NewBackup backup = std::move(begun).value();
  StorePlace source = *place;
  std::optional<DaemonsCopy> live;
  if (!place->database && place->held_by()) {
    auto made = DaemonsCopy::ask_for(*place->directory);
    if (!made) {
      return output.fail(made.failure());
    }
    live.emplace(std::move(*made));
    source = StorePlace{live->path(), std::nullopt, std::nullopt};
  }
  const engine::Instant made = wall_clock_now();
  {
    const auto store = open_closed(source, "");
    if (!store) {
      return output.fail(store.failure());
    }
    if (const auto copied = (*store)->copy_to(backup.events()); !copied) {
      return output.fail(failure_of(copied.error()));
    }
  }
  const auto checked = check_copy(backup.events());
  if (!checked) {
    return output.fail(checked.failure());
  }
  if (const auto finished = backup.finish(place->file.parent_path().string(), *key, *checked, made);
      !finished) {
    return output.fail(failure_of(finished.error()));
  }
  if (live) {
    if (const auto counted = live->conclude(true); !counted) {
      output.message("hpsearch: the daemon doesn't count this backup: " + counted.failure().message);
    }
  } else if (is_of_a_daemon(*place)) {
    if (const auto noted = daemon::note_backup(place->directory->string(), made); !noted) {
      output.message("hpsearch: the daemon will not count this backup: " + noted.error().message);
    }
  }
  return print_copy("backup", to, *checked, output);
}

namespace {

std::string sealed_keys_sentence(const std::string& place) {
  return "the keys in " + place +
         " are sealed: give the --key-file or --passphrase that the backup was made with, or --without-keys";
}

/// A backup of an object store, downloaded beside the new state directory until the command ends.
class FetchedBackup {
 public:
  /// Downloads nothing if the keys could not be opened.
  static Outcome<FetchedBackup> fetch(const StoreOptions& options) {
    const auto address = daemon::BackupAddress::read(options.store, options.endpoint_url);
    if (!address) {
      return usage_failure(address.error().message);
    }
    const auto record = daemon::read_stored_record(*address);
    if (!record) {
      return failure_of(record.error());
    }
    if (record->has_keys && !options.without_keys && !options.passphrase && options.key_file.empty()) {
      return usage_failure(sealed_keys_sentence(address->root));
    }
    fs::path to = fs::absolute(options.to).lexically_normal();
    to = to.has_filename() ? to : to.parent_path();
    const std::string path = to.string() + ".fetched";
    std::error_code ignored;
    fs::create_directories(to.parent_path(), ignored);
    if (::mkdir(path.c_str(), 0700) != 0) {
      const int why = errno;
      return why == EEXIST
                 ? conflict_failure(path + " already exists, perhaps of an interrupted command; remove it")
                 : storage_failure("cannot make the directory " + path, why);
    }
    FetchedBackup fetched(path);
    if (const auto downloaded = daemon::fetch_backup(*address, path); !downloaded) {
      return failure_of(downloaded.error());
    }
    return Outcome<FetchedBackup>(std::move(fetched));
  }
  FetchedBackup(FetchedBackup&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  FetchedBackup& operator=(FetchedBackup&&) = delete;
  ~FetchedBackup() {
    if (!path_.empty()) {
      std::error_code ignored;
      fs::remove_all(path_, ignored);
    }
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  explicit FetchedBackup(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

/// The sealed keys of a backup, or those beside a store.
Outcome<KeyFiles> keys_to_restore(const StorePlace& place, const StoreOptions& options) {
  if (place.file.empty()) {
    return KeyFiles{};
  }
  const std::string directory = place.file.parent_path().string();
  const auto record = place.directory ? daemon::read_backup_record(directory) : std::optional<BackupRecord>();
  if (!record) {
    return failure_of(record.error());
  }
  if (*record) {
    if (const auto whole = daemon::check_backup_files(directory, **record); !whole) {
      return failure_of(whole.error());
    }
  }
  if (options.without_keys || (*record && !(*record)->has_keys)) {
    return KeyFiles{};
  }
  if (!*record) {
    const auto beside = daemon::keys_in(directory);
    return beside ? Outcome<KeyFiles>(*beside) : failure_of(beside.error());
  }
  const auto key = key_of(options, Times::once, sealed_keys_sentence(directory));
  if (!key) {
    return key.failure();
  }
  auto opened = daemon::open_sealed_keys(directory, **key);
  return opened ? Outcome<KeyFiles>(*std::move(opened)) : failure_of(opened.error());
}

}  // namespace

int store_restore(const StoreOptions& options, const Output& output) {
  const bool is_fetched =
      daemon::BackupAddress::is_meant(options.store) && !daemon::DatabaseUrl::is_meant(options.store);
  if (!is_fetched && !options.endpoint_url.empty()) {
    return output.fail(usage_failure("--endpoint-url is for a backup in an object store (s3://…), not for " +
                                     options.store));
  }
  std::optional<FetchedBackup> fetched;
  if (is_fetched) {
    auto downloaded = FetchedBackup::fetch(options);
    if (!downloaded) {
      return output.fail(downloaded.failure());
    }
    fetched.emplace(std::move(*downloaded));
  }
  const auto place = find_store(fetched ? fetched->path() : options.store);
  if (!place) {
    return output.fail(place.failure());
  }
  const auto store = open_closed(*place, "restore a backup (hpsearch store backup)");
  if (!store) {
    return output.fail(store.failure());
  }
  if (options.upto && *options.upto > (*store)->last_lsn().number()) {
    return output.fail(usage_failure("--upto is " + std::to_string(*options.upto) + "; the last event of " +
                                     place->file.string() + " is " +
                                     std::to_string((*store)->last_lsn().number())));
  }
  const auto keys = keys_to_restore(*place, options);
  if (!keys) {
    return output.fail(keys.failure());
  }
  const auto to = new_store_in(options.to);
  if (!to) {
    return output.fail(to.failure());
  }
  const auto copied =
      daemon::salvage(**store, *to, wall_clock_now(),
                      options.upto ? std::optional(engine::Lsn(*options.upto)) : std::nullopt);
  if (!copied) {
    return output.fail(failure_of(copied.error()));
  }
  if (!copied->damage.empty()) {
    ::unlink(to->c_str());
    ::unlink(daemon::StoreSeal::path_of(*to).c_str());
    return output.fail(
        Failure{Exit::storage, Errc::corrupt,
                place->name() + ": " + copied->damage +
                    ". Nothing was restored; hpsearch store salvage keeps the events before the damage"});
  }
  const std::string directory = to->parent_path().string();
  engine::Status put = daemon::put_keys(*keys, directory);
  if (put && place->directory) {
    put = daemon::copy_open_files(place->directory->string(), directory);
  }
  if (!put) {
    return output.fail(failure_of(put.error()));
  }
  warn_of_sealed_secrets(directory, output);
  return print_copy("restored", *to, copied->kept, output);
}

}  // namespace hpsearch::cli
