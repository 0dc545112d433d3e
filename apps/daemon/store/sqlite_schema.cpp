#include "daemon/store/sqlite_schema.hpp"

#include <sys/random.h>

#include <array>

#include "daemon/store/event_group.hpp"
#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

// "hpse" in ASCII: `file` and other tools can tell whose database this is.
constexpr int application_id = 0x68707365;

constexpr const char* first_tables = R"sql(
  CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE event (
    lsn   INTEGER PRIMARY KEY,
    at    INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    type  TEXT NOT NULL,
    body  BLOB NOT NULL,
    chain INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE metric (
    experiment INTEGER NOT NULL,
    trial      INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    step       INTEGER NOT NULL,
    metrics    TEXT NOT NULL,
    PRIMARY KEY (experiment, trial, attempt, seq)
  ) STRICT, WITHOUT ROWID;
)sql";

constexpr const char* events_by_trial = R"sql(
  CREATE TABLE trial_event (
    experiment INTEGER NOT NULL,
    trial      INTEGER NOT NULL,
    lsn        INTEGER NOT NULL,
    PRIMARY KEY (experiment, trial, lsn)
  ) STRICT, WITHOUT ROWID;
)sql";

constexpr const char* events_in_groups = R"sql(
  CREATE TABLE event_group (
    first  INTEGER PRIMARY KEY,
    count  INTEGER NOT NULL,
    epoch  INTEGER NOT NULL,
    events BLOB NOT NULL
  ) STRICT;
)sql";

Status add_row(SqliteFile& file, const Statement& insert, const EventGroup& group) {
  Use row(insert);
  row.bind(1, group.first.number());
  row.bind(2, group.count);
  row.bind(3, group.epoch);
  row.bind_bytes(4, group.bytes);
  return row.step() == Use::Step::done ? Status(Done{}) : file.problem("cannot prepare");
}

/// What each row of an old log holds moves into groups, checked as it goes.
Status move_into_groups(SqliteFile& file) {
  const auto identity = file.number("SELECT coalesce((SELECT value FROM meta WHERE name = 'cluster'), 0)");
  const auto insert =
      file.prepare("INSERT INTO event_group (first, count, epoch, events) VALUES (?, ?, ?, ?)");
  const auto select = file.prepare("SELECT lsn, at, epoch, type, body, chain FROM event ORDER BY lsn");
  if (!identity || !insert || !select) {
    return !identity ? identity.error() : !insert ? insert.error() : select.error();
  }
  std::uint32_t old_chain = chain_start(*identity);
  std::uint32_t chain = old_chain;
  std::uint64_t last = 0;
  GroupWriter group;
  Use rows(*select);
  Use::Step came_to = rows.step();
  for (; came_to == Use::Step::row; came_to = rows.step()) {
    RecordView record;
    record.lsn = engine::Lsn(rows.number_at(0));
    record.at = engine::Instant::from_micros(static_cast<std::int64_t>(rows.number_at(1)));
    record.epoch = rows.number_at(2);
    record.body = rows.bytes_at(4);
    const bool follows = record.lsn.number() == last + 1;
    old_chain = typed_chain_of(old_chain, record, rows.text_at(3));
    if (!follows || old_chain != static_cast<std::uint32_t>(rows.number_at(5))) {
      const Error error =
          damaged(engine::Lsn(last + 1), follows ? "does not match its checksum" : "is missing");
      return Error{error.code, file.path() + ": " + error.message};
    }
    last = record.lsn.number();
    chain = chain_of(chain, record);
    record.chain = chain;
    if (!group.add(record)) {
      if (auto added = add_row(file, *insert, group.group()); !added) {
        return added;
      }
      group.clear();
      HPSEARCH_CHECK(group.add(record), "an empty group takes any event");
    }
  }
  if (came_to != Use::Step::done) {
    return file.problem("cannot read");
  }
  return group.empty() ? Status(Done{}) : add_row(file, *insert, group.group());
}

Status drop_single_events(SqliteFile& file) {
  return file.run("DROP TABLE event", "cannot prepare");
}

/// Takes the schema one version further: first the script, then what no script can do.
struct Migration {
  const char* script;
  Status (*move)(SqliteFile& file) = nullptr;
  Status (*tidy)(SqliteFile& file) = nullptr;
};

/// migrations[n] takes the schema from version n to n+1. Only ever added to.
constexpr std::array<Migration, 3> migrations{
    {{first_tables}, {events_by_trial}, {events_in_groups, move_into_groups, drop_single_events}}};

std::uint64_t random_number() {
  std::uint64_t number = 0;
  while (number == 0) {
    HPSEARCH_CHECK(::getrandom(&number, sizeof number, 0) == sizeof number,
                   "the kernel always has random bytes");
  }
  return number;
}

Status migrate_from(SqliteFile& file, std::uint64_t version, bool fresh) {
  for (std::size_t next = version; next < migrations.size(); ++next) {
    if (auto done = file.run(migrations[next].script, "cannot prepare"); !done) {
      return done;
    }
    for (const auto step : {migrations[next].move, migrations[next].tidy}) {
      if (step == nullptr) {
        continue;
      }
      if (auto done = step(file); !done) {
        return done;
      }
    }
  }
  std::string script;
  if (fresh) {
    const auto identity = std::to_string(signed_of(random_number()));
    script = "INSERT INTO meta VALUES ('cluster', " + identity + "), ('daemon_epoch', 0), ('last_lsn', 0);";
  }
  script += "PRAGMA application_id=" + std::to_string(application_id) + ";";
  script += "PRAGMA user_version=" + std::to_string(migrations.size()) + ";COMMIT;";
  return file.run(script, "cannot prepare");
}

struct Schema {
  std::uint64_t version = 0;
  bool fresh = false;  ///< A file with nothing in it.
};

/// corrupt, version_mismatch: nothing that this build could go on with.
Result<Schema> schema_of(SqliteFile& file) {
  const auto version = file.number("PRAGMA user_version");
  const auto owner = file.number("PRAGMA application_id");
  const auto tables = file.number("SELECT count(*) FROM sqlite_schema");
  for (const auto* asked : {&version, &owner, &tables}) {
    if (!*asked) {
      return asked->error();
    }
  }
  const bool fresh = *version == 0 && *tables == 0;
  if (!fresh && *owner != static_cast<std::uint64_t>(application_id)) {
    return Error{Errc::corrupt, file.path() + " is a database of another program"};
  }
  if (*version > migrations.size()) {
    return Error{Errc::version_mismatch, file.path() + " was written by a newer version (its schema is " +
                                             std::to_string(*version) + ", this one reads up to " +
                                             std::to_string(migrations.size()) + ")"};
  }
  return Schema{*version, fresh};
}

}  // namespace

Status check_schema(SqliteFile& file) {
  const auto schema = schema_of(file);
  if (!schema) {
    return schema.error();
  }
  if (schema->fresh) {
    return Error{Errc::corrupt, file.path() + " is an empty database"};
  }
  if (schema->version < migrations.size()) {
    return Error{Errc::version_mismatch, file.path() + " was written by an older version (its schema is " +
                                             std::to_string(schema->version) + ", this one reads " +
                                             std::to_string(migrations.size()) +
                                             "); start a daemon on it once, which brings it up to date"};
  }
  return Done{};
}

Status migrate(SqliteFile& file) {
  const auto schema = schema_of(file);
  if (!schema) {
    return schema.error();
  }
  if (schema->version == migrations.size()) {
    return Done{};
  }
  if (auto begun = file.run("BEGIN IMMEDIATE", "cannot prepare"); !begun) {
    return begun;
  }
  Status done = migrate_from(file, schema->version, schema->fresh);
  if (!done) {
    file.roll_back();
  }
  return done;
}

}  // namespace hpsearch::daemon
