#include "cli/admin/store_place.hpp"

#include <sys/stat.h>

#include <chrono>
#include <system_error>

#include "cli/client/state_directory.hpp"
#include "daemon/backup/backup_address.hpp"
#include "daemon/store/files/store_address.hpp"
#include "daemon/store/postgresql/postgresql_log.hpp"
#include "daemon/store/tools/closed_store.hpp"

namespace hpsearch::cli {

namespace fs = std::filesystem;

using daemon::DatabaseUrl;
using daemon::StoredLog;
using engine::Errc;
using engine::Value;

constexpr const char* file_name = "events.db";

std::optional<pid_t> StorePlace::held_by() const {
  return directory ? lock_holder(*directory / "lock") : std::nullopt;
}

namespace {

Outcome<StorePlace> in_database(const std::string& address, const std::optional<fs::path>& directory) {
  auto url = DatabaseUrl::read(address);
  if (!url) {
    return failure_of(url.error());
  }
  return StorePlace{directory ? *directory / file_name : fs::path(), directory, *std::move(url)};
}

}  // namespace

Outcome<StorePlace> find_store(const std::string& given) {
  if (DatabaseUrl::is_meant(given)) {
    return in_database(given, std::nullopt);
  }
  if (daemon::BackupAddress::is_meant(given)) {
    return usage_failure(given + " is a backup in an object store, which only hpsearch store restore reads");
  }
  const fs::path path = fs::absolute(given).lexically_normal();
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) {
    return StorePlace{path, std::nullopt, std::nullopt};
  }
  for (const fs::path& directory : {path, path / "daemon"}) {
    const auto elsewhere = daemon::read_store_address(directory.string());
    if (!elsewhere) {
      return failure_of(elsewhere.error());
    }
    if (*elsewhere) {
      return in_database((*elsewhere)->address, directory);
    }
    if (fs::is_regular_file(directory / file_name, ignored)) {
      return StorePlace{directory / file_name, directory, std::nullopt};
    }
  }
  return not_found_failure("there is no store at " + path.string() +
                           ": name the state directory of a daemon or a run, or a backup");
}

Outcome<std::unique_ptr<StoredLog>> open_closed(const StorePlace& place, const std::string& instead) {
  if (place.database) {
    auto log = daemon::PostgresqlLog::open(*place.database);
    return log ? Outcome<std::unique_ptr<StoredLog>>(std::move(log).value()) : failure_of(log.error());
  }
  if (const auto holder = place.held_by()) {
    return conflict_failure("the store " + place.file.string() + " is in use by process " +
                            std::to_string(*holder) + "; " + instead);
  }
  auto store = daemon::ClosedStore::open(place.file);
  if (!store) {
    engine::Error error = store.error();
    error.message += error.code == Errc::wrong_state && !instead.empty() ? "; " + instead : "";
    return failure_of(error);
  }
  return std::unique_ptr<StoredLog>(std::move(store).value());
}

Outcome<fs::path> new_store_in(const std::string& given) {
  const fs::path directory = fs::absolute(given).lexically_normal();
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    return storage_failure("cannot make the directory " + directory.string(), error.value());
  }
  ::chmod(directory.c_str(), 0700);
  return directory / file_name;
}

engine::Instant wall_clock_now() {
  using namespace std::chrono;
  return engine::Instant::from_micros(
      duration_cast<microseconds>(system_clock::now().time_since_epoch()).count());
}

Value count_value(std::uint64_t count) {
  return static_cast<std::int64_t>(count);
}

void warn_of_sealed_secrets(const std::string& state_directory, const Output& output) {
  std::error_code ignored;
  if (!fs::exists(fs::path(state_directory) / "secrets.key", ignored)) {
    output.message(
        "hpsearch: secrets of experiments stay sealed: copy secrets.key from the daemon's former state "
        "directory to " +
        state_directory + "/secrets.key");
  }
}

int print_copy(const std::string& what, const fs::path& path, engine::Lsn last, const Output& output) {
  if (output.json()) {
    output.data(Value::Map{{"path", path.string()}, {"last_lsn", count_value(last.number())}});
  } else {
    output.print(what + " " + path.string() + ": " + std::to_string(last.number()) + " events, checked\n");
  }
  return 0;
}

}  // namespace hpsearch::cli
