#include "daemon/store/postgresql/postgresql_schema.hpp"

#include <cstdint>
#include <string>

#include "hpsearch/io/files/random_bytes.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

// Changes whenever a table or the bytes in it change.
constexpr std::uint64_t format_version = 2;

// The one row of hpsearch_store is written by every commit, so its old versions need room beside it.
constexpr const char* tables = R"sql(
  SELECT pg_advisory_xact_lock(7526755570000000000);
  CREATE TABLE IF NOT EXISTS hpsearch_store (
    only_row     boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    format       bigint NOT NULL,
    cluster      bigint NOT NULL,
    epoch        bigint NOT NULL,
    last_lsn     bigint NOT NULL,
    last_chain   bigint NOT NULL,
    holder       text NOT NULL,
    holder_place text NOT NULL,
    heartbeat    timestamptz NOT NULL
  ) WITH (fillfactor = 10);
  CREATE TABLE IF NOT EXISTS hpsearch_event_group (
    first  bigint PRIMARY KEY,
    last   bigint NOT NULL,
    epoch  bigint NOT NULL,
    chain  bigint NOT NULL,
    events bytea NOT NULL
  );
  CREATE TABLE IF NOT EXISTS hpsearch_trial_event (
    experiment bigint NOT NULL,
    trial      bigint NOT NULL,
    lsn        bigint NOT NULL,
    PRIMARY KEY (experiment, trial, lsn)
  );
  CREATE TABLE IF NOT EXISTS hpsearch_metric (
    experiment bigint NOT NULL,
    trial      bigint NOT NULL,
    attempt    bigint NOT NULL,
    seq        bigint NOT NULL,
    step       bigint NOT NULL,
    at         bigint NOT NULL,
    metrics    bytea NOT NULL,
    PRIMARY KEY (experiment, trial, attempt, seq)
  );
  CREATE TABLE IF NOT EXISTS hpsearch_keys (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    sealed   bytea NOT NULL
  );
)sql";

std::int64_t new_cluster() {
  const std::uint64_t number = files::random_number();
  return number == 0 ? new_cluster() : static_cast<std::int64_t>(number);
}

Result<bool> has_tables(Connection& connection) {
  const auto found = connection.read("SELECT to_regclass('hpsearch_store') IS NOT NULL");
  return found ? Result<bool>(found->number(0, 0) == 1) : Result<bool>(found.error());
}

Status check_format(Connection& connection) {
  const auto format = connection.read("SELECT format FROM hpsearch_store");
  if (!format) {
    return format.error();
  }
  if (format->count() != 1 || format->number(0, 0) != format_version) {
    return Error{Errc::version_mismatch,
                 connection.url() + " has store format " +
                     (format->count() == 1 ? std::to_string(format->number(0, 0)) : "unknown") +
                     "; this release reads format " + std::to_string(format_version)};
  }
  return Done{};
}

}  // namespace

Status prepare_tables(Connection& connection) {
  const auto found = has_tables(connection);
  if (!found) {
    return found.error();
  }
  if (!*found) {
    Status made = connection.run_all(std::string(tables) + "INSERT INTO hpsearch_store VALUES (true, " +
                                     std::to_string(format_version) + ", " + std::to_string(new_cluster()) +
                                     ", 0, 0, 0, '', '', clock_timestamp()) ON CONFLICT DO NOTHING");
    if (!made) {
      Error error = made.error();
      error.message += error.code == Errc::bad_request
                           ? "; make this user the owner of the database (ALTER DATABASE … OWNER TO …)"
                           : "";
      return error;
    }
  }
  return check_format(connection);
}

Status check_tables_of(Connection& connection) {
  const auto found = has_tables(connection);
  if (!found) {
    return found.error();
  }
  return *found ? check_format(connection)
                : Status(Error{Errc::not_found, connection.url() + " has no store (table hpsearch_store)"});
}

}  // namespace hpsearch::daemon
