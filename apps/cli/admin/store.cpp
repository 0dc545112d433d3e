#include <optional>
#include <string>

#include "cli/admin/store_place.hpp"
#include "cli/experiment/known_searchers.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "daemon/backup/backup_set.hpp"
#include "daemon/store/files/store_address.hpp"
#include "daemon/store/postgresql/postgresql_log.hpp"
#include "daemon/store/tools/closed_store.hpp"
#include "daemon/store/tools/copy_log.hpp"
#include "daemon/store/tools/salvage.hpp"
#include "daemon/store/tools/store_check.hpp"
#include "hpsearch/proto/events/stored.hpp"

namespace hpsearch::cli {

using engine::Done;
using engine::Value;

namespace {

/// A damaged file of a backup, other than its events; null if all are whole.
std::optional<std::string> damaged_backup_file(const StorePlace& place) {
  if (!place.directory) {
    return std::nullopt;
  }
  const auto record = daemon::read_backup_record(place.directory->string());
  if (!record || !*record) {
    return record ? std::nullopt : std::optional(record.error().message);
  }
  const engine::Status checked = daemon::check_backup_files(place.directory->string(), **record);
  return checked ? std::nullopt : std::optional(checked.error().message);
}

/// Copies the keys of the state directory, too, if the store has one.
Outcome<Done> carry_keys(const StorePlace& from, const std::string& to, const Output& output) {
  if (from.file.empty()) {
    warn_of_sealed_secrets(to, output);
    return Done{};
  }
  const std::string directory = from.file.parent_path().string();
  const auto keys = daemon::keys_in(directory);
  engine::Status done = keys ? daemon::put_keys(*keys, to) : engine::Status(keys.error());
  if (done && from.directory) {
    done = daemon::copy_open_files(directory, to);
  }
  if (!done) {
    return failure_of(done.error());
  }
  warn_of_sealed_secrets(to, output);
  return Done{};
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
  daemon::StoreCheck check = daemon::check_store(**store, known_searchers());
  if (const auto damage = damaged_backup_file(*place)) {
    check.damages.push_back(*damage);
  }
  if (output.json()) {
    Value::List damages(check.damages.begin(), check.damages.end());
    output.data(Value::Map{{"store", place->name()},
                           {"sound", check.sound()},
                           {"last_good_lsn", count_value(check.last.number())},
                           {"last_lsn", count_value((*store)->last_lsn().number())},
                           {"damages", std::move(damages)}});
    return static_cast<int>(check.sound() ? Exit::ok : Exit::storage);
  }
  for (const std::string& damage : check.damages) {
    output.print(printable(damage) + "\n");
  }
  output.print("store " + place->name() + ": " + std::to_string(check.last.number()) + " of " +
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
        failure_of(engine::Error{read.error().code, place->name() + ": " + read.error().message}));
  }
  return 0;
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
  const auto saved = daemon::salvage(**store, *to, wall_clock_now());
  if (!saved) {
    return output.fail(failure_of(saved.error()));
  }
  if (const auto carried = carry_keys(*place, to->parent_path().string(), output); !carried) {
    return output.fail(carried.failure());
  }
  const std::uint64_t lost = saved->stored > saved->kept ? saved->stored.number() - saved->kept.number() : 0;
  if (output.json()) {
    output.data(Value::Map{{"path", to->string()},
                           {"last_lsn", count_value(saved->kept.number())},
                           {"last_at", static_cast<double>(saved->kept_at.micros()) / 1e6},
                           {"lost_events", count_value(lost)},
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

namespace {

/// Checks a copy, and prints what it has.
int report_copy(daemon::StoredLog& from, daemon::StoredLog& copy, const StorePlace& place,
                const Output& output) {
  if (const auto same = daemon::check_same_log(from, copy); !same) {
    return output.fail(failure_of(same.error()));
  }
  output.message("hpsearch: start the daemon on the copy only, and no longer on " + place.name());
  return print_copy("copy", copy.path(), copy.last_lsn(), output);
}

int copy_to_database(daemon::StoredLog& from, const StorePlace& place, const std::string& to,
                     const Output& output) {
  const auto url = daemon::DatabaseUrl::read(to);
  if (!url) {
    return output.fail(failure_of(url.error()));
  }
  if (const auto copied = daemon::copy_log_to_database(from, *url); !copied) {
    return output.fail(failure_of(copied.error()));
  }
  const auto copy = daemon::PostgresqlLog::open(*url);
  return copy ? report_copy(from, **copy, place, output) : output.fail(failure_of(copy.error()));
}

int copy_to_directory(daemon::StoredLog& from, const StorePlace& place, const std::string& to,
                      const Output& output) {
  const auto file = new_store_in(to);
  if (!file) {
    return output.fail(file.failure());
  }
  if (const auto copied = daemon::copy_log_to_file(from, *file, daemon::WithSeal::yes); !copied) {
    return output.fail(failure_of(copied.error()));
  }
  const std::string directory = file->parent_path().string();
  if (const auto carried = carry_keys(place, directory, output); !carried) {
    return output.fail(carried.failure());
  }
  daemon::remove_store_address(directory);
  const auto copy = daemon::ClosedStore::open(*file);
  return copy ? report_copy(from, **copy, place, output) : output.fail(failure_of(copy.error()));
}

}  // namespace

int store_copy(const StoreOptions& options, const Output& output) {
  const auto place = find_store(options.store);
  if (!place) {
    return output.fail(place.failure());
  }
  const std::string instead = "stop it first: the copy goes on where it ended";
  const auto from = open_closed(*place, instead);
  if (!from) {
    return output.fail(from.failure());
  }
  const auto* in_database = dynamic_cast<const daemon::PostgresqlLog*>(from->get());
  if (in_database != nullptr && !in_database->holder().empty()) {
    return output.fail(conflict_failure("the store " + place->name() + " is in use by " +
                                        in_database->holder() + "; " + instead));
  }
  return daemon::DatabaseUrl::is_meant(options.to) ? copy_to_database(**from, *place, options.to, output)
                                                   : copy_to_directory(**from, *place, options.to, output);
}

}  // namespace hpsearch::cli
