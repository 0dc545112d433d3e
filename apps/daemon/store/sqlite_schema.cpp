#include "daemon/store/sqlite_schema.hpp"

#include <cstdint>
#include <string>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/io/files/random_bytes.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

// "hpse" in ASCII: `file` and other tools can identify the database.
constexpr int application_id = 0x68707365;

constexpr const char* tables = R"sql(
  CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE event_group (
    first  INTEGER PRIMARY KEY,
    count  INTEGER NOT NULL,
    epoch  INTEGER NOT NULL,
    events BLOB NOT NULL
  ) STRICT;
  CREATE TABLE trial_event (
    experiment INTEGER NOT NULL,
    trial      INTEGER NOT NULL,
    lsn        INTEGER NOT NULL,
    PRIMARY KEY (experiment, trial, lsn)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE metric (
    experiment INTEGER NOT NULL,
    trial      INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    step       INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    metrics    TEXT NOT NULL,
    PRIMARY KEY (experiment, trial, attempt, seq)
  ) STRICT, WITHOUT ROWID;
)sql";

std::uint64_t random_number() {
  const std::uint64_t number = files::random_number();
  return number == 0 ? random_number() : number;
}

Status create_tables(SqliteFile& file) {
  if (auto begun = file.run("BEGIN IMMEDIATE", "cannot prepare"); !begun) {
    return begun;
  }
  const std::string identity = std::to_string(signed_of(random_number()));
  Status done = file.run(std::string(tables) + "INSERT INTO meta VALUES ('cluster', " + identity +
                             "), ('daemon_epoch', 0), ('last_lsn', 0);" +
                             "PRAGMA application_id=" + std::to_string(application_id) + ";" +
                             "PRAGMA user_version=" + std::to_string(format_version) + ";COMMIT;",
                         "cannot prepare");
  if (!done) {
    file.roll_back();
  }
  return done;
}

/// Whether the file is a store of this build's format; false for an empty file. corrupt: a file of another
/// program; version_mismatch: another format.
Result<bool> has_schema(SqliteFile& file) {
  const auto version = file.number("PRAGMA user_version");
  const auto owner = file.number("PRAGMA application_id");
  const auto tables_there = file.number("SELECT count(*) FROM sqlite_schema");
  for (const auto* asked : {&version, &owner, &tables_there}) {
    if (!*asked) {
      return asked->error();
    }
  }
  if (*version == 0 && *tables_there == 0) {
    return false;
  }
  if (*owner != static_cast<std::uint64_t>(application_id)) {
    return Error{Errc::corrupt, file.path() + " is a database of another program"};
  }
  if (*version != format_version) {
    return Error{Errc::version_mismatch, file.path() + " has store format " + std::to_string(*version) +
                                             "; this release reads format " + std::to_string(format_version)};
  }
  return true;
}

}  // namespace

Status check_schema(SqliteFile& file) {
  const auto found = has_schema(file);
  if (!found) {
    return found.error();
  }
  return *found ? Status(Done{}) : Status(Error{Errc::corrupt, file.path() + " is an empty database"});
}

Status prepare_schema(SqliteFile& file) {
  const auto found = has_schema(file);
  if (!found) {
    return found.error();
  }
  return *found ? Status(Done{}) : create_tables(file);
}

}  // namespace hpsearch::daemon
