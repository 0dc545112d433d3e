#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "cli/client.hpp"
#include "cli/known_searchers.hpp"
#include "cli/shapes.hpp"
#include "cli/state_directory.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "daemon/store/closed_store.hpp"
#include "daemon/store/file_system.hpp"
#include "daemon/store/salvage.hpp"
#include "daemon/store/store_check.hpp"
#include "daemon/store/store_seal.hpp"
#include "hpsearch/proto/stored.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;

using daemon::ClosedStore;
using engine::Done;
using engine::Errc;
using engine::Value;

constexpr const char* file_name = "events.db";
// A backup is copied as fast as the disk takes it, and the daemon answers when it is done.
constexpr std::chrono::minutes backup_patience{60};

/// Where a store is: in a daemon's directory, or a file of its own.
struct Place {
  fs::path file;
  std::optional<fs::path> daemon;  ///< The daemon's state directory.

  [[nodiscard]] std::optional<pid_t> held_by() const {
    return daemon ? lock_holder(*daemon / "lock") : std::nullopt;
  }
};

Outcome<Place> find_store(const std::string& given) {
  const fs::path path = fs::absolute(given).lexically_normal();
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) {
    return Place{path, std::nullopt};
  }
  for (const fs::path& directory : {path, path / "daemon"}) {
    if (fs::is_regular_file(directory / file_name, ignored)) {
      return Place{directory / file_name, directory};
    }
  }
  return not_found_failure("there is no store at " + path.string() +
                           ": name the state directory of a daemon or a run, or a backup");
}

Outcome<std::unique_ptr<ClosedStore>> open_closed(const Place& place, const std::string& instead) {
  if (const auto holder = place.held_by()) {
    return conflict_failure("the store " + place.file.string() + " is in use by process " +
                            std::to_string(*holder) + "; " + instead);
  }
  auto store = ClosedStore::open(place.file);
  if (!store) {
    engine::Error error = store.error();
    error.message += error.code == Errc::wrong_state && !instead.empty() ? "; " + instead : "";
    return failure_of(error);
  }
  return std::move(store).value();
}

/// The file a new store gets in a state directory, which is made if need be.
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

Value number(std::uint64_t count) {
  return static_cast<std::int64_t>(count);
}

/// The chain of a copy, from beginning to end.
Outcome<engine::Lsn> check_copy(const fs::path& path) {
  auto store = ClosedStore::open(path);
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

int print_copy(const std::string& what, const fs::path& path, engine::Lsn last, const Output& output) {
  if (output.json()) {
    output.data(Value::Map{{"path", path.string()}, {"last_lsn", number(last.number())}});
  } else {
    output.print(what + " " + path.string() + ": " + std::to_string(last.number()) + " events, checked\n");
  }
  return 0;
}

/// Has the daemon that holds the store make a copy, and returns where it is.
Outcome<fs::path> ask_for_backup(const fs::path& directory) {
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
  return fs::path(text_at(*answer, "path"));
}

}  // namespace

int store_verify(const StoreOptions& options, const Output& output) {
  const auto place = find_store(options.store);
  if (!place) {
    return output.fail(place.failure());
  }
  const auto store = open_closed(*place, "stop it first, or verify a backup (hpsearch store backup)");
  if (!store) {
    return output.fail(store.failure());
  }
  const daemon::StoreCheck check = daemon::check_store(**store, known_searchers());
  if (output.json()) {
    Value::List damages(check.damages.begin(), check.damages.end());
    output.data(Value::Map{{"store", place->file.string()},
                           {"sound", check.sound()},
                           {"last_good_lsn", number(check.last.number())},
                           {"last_lsn", number((*store)->last_lsn().number())},
                           {"damages", std::move(damages)}});
    return static_cast<int>(check.sound() ? Exit::ok : Exit::storage);
  }
  for (const std::string& damage : check.damages) {
    output.print(printable(damage) + "\n");
  }
  output.print("store " + place->file.string() + ": " + std::to_string(check.last.number()) + " of " +
               std::to_string((*store)->last_lsn().number()) + " events good; " +
               (check.sound() ? "sound" : "DAMAGED") + "\n");
  if (!check.damages.empty()) {
    output.message(
        "hpsearch store salvage creates a new store from the undamaged part; a backup may have more");
  }
  return static_cast<int>(check.sound() ? Exit::ok : Exit::storage);
}

int store_export(const StoreOptions& options, const Output& output) {
  const auto place = find_store(options.store);
  if (!place) {
    return output.fail(place.failure());
  }
  const auto store = open_closed(*place, "export a backup (hpsearch store backup)");
  if (!store) {
    return output.fail(store.failure());
  }
  const auto read =
      (*store)->read([&](const daemon::RecordView&, const engine::Event& event) -> engine::Status {
        output.line(proto::to_value(event));
        return Done{};
      });
  if (!read) {
    return output.fail(
        failure_of(engine::Error{read.error().code, place->file.string() + ": " + read.error().message}));
  }
  return 0;
}

int store_backup(const StoreOptions& options, const Output& output) {
  const auto place = find_store(options.store);
  if (!place) {
    return output.fail(place.failure());
  }
  const fs::path to = fs::absolute(options.to).lexically_normal();
  if (fs::exists(to)) {
    return output.fail(conflict_failure(to.string() + " already exists; name another file"));
  }
  Place source = *place;
  const bool live = place->held_by().has_value();
  if (live) {
    const auto made = ask_for_backup(*place->daemon);
    if (!made) {
      return output.fail(made.failure());
    }
    source = Place{*made, std::nullopt};
  }
  {
    const auto store = open_closed(source, "");
    if (!store) {
      return output.fail(store.failure());
    }
    if (const auto copied = (*store)->copy_to(to); !copied) {
      return output.fail(failure_of(copied.error()));
    }
  }
  if (live) {
    ::unlink(source.file.c_str());
  }
  const auto checked = check_copy(to);
  if (!checked) {
    return output.fail(checked.failure());
  }
  return print_copy("backup", to, *checked, output);
}

namespace {

engine::Instant wall_clock() {
  using namespace std::chrono;
  return engine::Instant::from_micros(
      duration_cast<microseconds>(system_clock::now().time_since_epoch()).count());
}

/// The key of the secrets goes along where it lies beside the store; a backup has none.
Outcome<engine::Done> carry_secrets_key(const Place& from, const fs::path& to, const Output& output) {
  const fs::path key = from.file.parent_path() / "secrets.key";
  const fs::path copy = to.parent_path() / "secrets.key";
  const auto bytes = daemon::kernel_files().read(key.string());
  std::error_code ignored;
  if (!bytes || fs::exists(copy, ignored)) {
    if (!fs::exists(copy, ignored)) {
      output.message(
          "hpsearch: secrets of experiments stay sealed: copy secrets.key from the daemon's former state "
          "directory to " +
          copy.string());
    }
    return engine::Done{};
  }
  const std::array parts{std::span<const std::byte>(*bytes)};
  const engine::Status written = daemon::write_file_durably(daemon::kernel_files(), copy.string(), parts);
  return written ? Outcome<engine::Done>(engine::Done{}) : Outcome<engine::Done>(failure_of(written.error()));
}

}  // namespace

int store_restore(const StoreOptions& options, const Output& output) {
  const auto place = find_store(options.store);
  if (!place) {
    return output.fail(place.failure());
  }
  const auto store = open_closed(*place, "restore a backup (hpsearch store backup)");
  if (!store) {
    return output.fail(store.failure());
  }
  const auto to = new_store_in(options.to);
  if (!to) {
    return output.fail(to.failure());
  }
  const auto copied = daemon::salvage(**store, *to, wall_clock());
  if (!copied) {
    return output.fail(failure_of(copied.error()));
  }
  if (!copied->damage.empty()) {
    ::unlink(to->c_str());
    ::unlink(daemon::StoreSeal::path_of(*to).c_str());
    return output.fail(
        Failure{Exit::storage, Errc::corrupt,
                place->file.string() + ": " + copied->damage +
                    ". Nothing was restored; hpsearch store salvage keeps the events before the damage"});
  }
  if (const auto carried = carry_secrets_key(*place, *to, output); !carried) {
    return output.fail(carried.failure());
  }
  return print_copy("restored", *to, copied->kept, output);
}

int store_salvage(const StoreOptions& options, const Output& output) {
  const auto place = find_store(options.store);
  if (!place) {
    return output.fail(place.failure());
  }
  const auto store = open_closed(*place, "end it first");
  if (!store) {
    return output.fail(store.failure());
  }
  const auto to = new_store_in(options.to);
  if (!to) {
    return output.fail(to.failure());
  }
  const auto saved = daemon::salvage(**store, *to, wall_clock());
  if (!saved) {
    return output.fail(failure_of(saved.error()));
  }
  if (const auto carried = carry_secrets_key(*place, *to, output); !carried) {
    return output.fail(carried.failure());
  }
  const std::uint64_t lost = saved->stored > saved->kept ? saved->stored.number() - saved->kept.number() : 0;
  if (output.json()) {
    output.data(Value::Map{{"path", to->string()},
                           {"last_lsn", number(saved->kept.number())},
                           {"last_at", static_cast<double>(saved->kept_at.micros()) / 1e6},
                           {"lost_events", number(lost)},
                           {"damage", saved->damage}});
    return 0;
  }
  output.print("salvaged " + to->string() + ": " + std::to_string(saved->kept.number()) + " events\n");
  if (saved->damage.empty()) {
    output.print("nothing is lost: the log is complete\n");
  } else {
    output.print(printable(saved->damage) + "\n");
    output.print(
        "lost: " +
        (lost > 0 ? "events " + std::to_string(saved->kept.number() + 1) + " to " +
                        std::to_string(saved->stored.number()) + " (" + std::to_string(lost) + ")"
                  : "what was stored after event " + std::to_string(saved->kept.number())) +
        (saved->kept.number() == 0
             ? ""
             : "; the last one kept is of " + time_text(static_cast<double>(saved->kept_at.micros()) / 1e6)) +
        "\n");
  }
  return 0;
}

}  // namespace hpsearch::cli
