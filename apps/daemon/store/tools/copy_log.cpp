#include "daemon/store/tools/copy_log.hpp"

#include <cstdint>
#include <utility>

#include "daemon/store/files/file_system.hpp"
#include "daemon/store/files/new_store_file.hpp"
#include "daemon/store/log_writer.hpp"
#include "daemon/store/postgresql/connection.hpp"
#include "daemon/store/postgresql/log_batch.hpp"
#include "daemon/store/postgresql/postgresql_schema.hpp"
#include "daemon/store/postgresql/postgresql_store.hpp"
#include "daemon/store/sqlite_schema.hpp"
#include "daemon/store/tools/store_seal.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Lsn;
using engine::Status;

constexpr std::size_t events_per_statement = 2'000;

/// Passes each record to `take`, whose own error counts before that of the log.
template <class Take>
Status read_all(StoredLog& from, const Take& take) {
  Status writing = Done{};
  const Status read = from.read([&](const RecordView& record, const engine::Event& event) -> Status {
    writing = take(record, event);
    return writing;
  });
  if (!writing) {
    return writing;
  }
  return read ? read : Error{read.error().code, from.path() + ": " + read.error().message};
}

Status fill(StoredLog& from, SqliteFile& file) {
  if (auto prepared = prepare_schema(file); !prepared) {
    return prepared;
  }
  const std::string set = "UPDATE meta SET value = ";
  const std::string epoch = std::to_string(from.daemon_epoch());
  if (auto identified =
          file.run(set + std::to_string(signed_of(from.cluster())) + " WHERE name = 'cluster';" + set +
                       epoch + " WHERE name = 'daemon_epoch'; BEGIN",
                   "cannot write");
      !identified) {
    return identified;
  }
  LogWriter writer;
  if (auto opened = writer.open(file, from.daemon_epoch()); !opened) {
    return opened;
  }
  if (auto written = read_all(from, [&](const RecordView& record,
                                        const engine::Event& event) { return writer.add(record, event); });
      !written) {
    return written;
  }
  if (auto finished = writer.finish(); !finished) {
    return finished;
  }
  return file.run("COMMIT", "cannot write");
}

/// Locks the row of the store, and gives it the identity and the starts of the log.
Status take_identity(StoredLog& from, Connection& to) {
  const auto row = to.run("SELECT last_lsn, CASE WHEN heartbeat > clock_timestamp() - interval '" +
                          std::to_string(holder_counts_for_seconds) +
                          " seconds' THEN holder ELSE '' END FROM hpsearch_store FOR UPDATE");
  if (!row) {
    return row.error();
  }
  if (row->number(0, 0) != 0) {
    return Error{Errc::wrong_state, to.url() + " has a store with " + std::to_string(row->number(0, 0)) +
                                        " events already, and is left as it is; name another database"};
  }
  if (!row->text(0, 1).empty()) {
    return Error{Errc::wrong_state,
                 to.url() + " is in use by " + std::string(row->text(0, 1)) + "; stop that daemon first"};
  }
  const auto set = to.run("UPDATE hpsearch_store SET cluster = $1, epoch = $2, holder = ''",
                          Parameters().number(from.cluster()).number(from.daemon_epoch()));
  return set ? Status(Done{}) : Status(set.error());
}

Status fill(StoredLog& from, Connection& to) {
  LogBatch batch;
  Lsn stored;
  const auto store = [&]() -> Status {
    const auto done = batch.store(to, from.daemon_epoch(), stored);
    if (!done) {
      return done.error();
    }
    stored = batch.last();
    batch = LogBatch();
    return *done ? Status(Done{}) : Status(Error{Errc::wrong_state, to.url() + " was changed meanwhile"});
  };
  if (auto written = read_all(from,
                              [&](const RecordView& record, const engine::Event& event) -> Status {
                                batch.add(record, event);
                                return batch.events() < events_per_statement ? Status(Done{}) : store();
                              });
      !written) {
    return written;
  }
  return batch.events() > 0 ? store() : Status(Done{});
}

}  // namespace

Status copy_log_to_file(StoredLog& from, const std::string& path, WithSeal seal) {
  auto made = NewStoreFile::begin(path);
  if (!made) {
    return made.error();
  }
  if (auto filled = fill(from, (*made)->file()); !filled) {
    return filled;
  }
  if (seal == WithSeal::yes) {
    // Written before the store: a store that has had a start must have a seal.
    const StoreHead head{from.cluster(), from.daemon_epoch(), from.last_lsn(), true};
    if (auto sealed = StoreSeal::begin(kernel_files(), path, head); !sealed) {
      return sealed.error();
    }
  }
  return (*made)->finish();
}

Status copy_log_to_database(StoredLog& from, const DatabaseUrl& to) {
  Connection connection(to,
                        "SET statement_timeout = 0; SET default_transaction_isolation = 'read committed'");
  if (auto prepared = prepare_tables(connection); !prepared) {
    return prepared;
  }
  if (auto begun = connection.begin(); !begun) {
    return begun;
  }
  if (auto taken = take_identity(from, connection); !taken) {
    return taken;
  }
  if (auto filled = fill(from, connection); !filled) {
    return filled;
  }
  return connection.commit();
}

Status check_same_log(StoredLog& from, StoredLog& copy) {
  std::uint32_t chain = 0;
  if (auto read = read_all(from,
                           [&](const RecordView& record, const engine::Event&) -> Status {
                             chain = record.chain;
                             return Done{};
                           });
      !read) {
    return read;
  }
  std::uint32_t copied = 0;
  if (auto read = read_all(copy,
                           [&](const RecordView& record, const engine::Event&) -> Status {
                             copied = record.chain;
                             return Done{};
                           });
      !read) {
    return read;
  }
  // The chain covers every byte of every event before it.
  if (from.cluster() != copy.cluster() || from.daemon_epoch() != copy.daemon_epoch() ||
      from.last_lsn() != copy.last_lsn() || chain != copied) {
    return Error{Errc::corrupt, "the copy in " + copy.path() + " differs from " + from.path() + ": it has " +
                                    std::to_string(copy.last_lsn().number()) + " of " +
                                    std::to_string(from.last_lsn().number()) + " events"};
  }
  return Done{};
}

}  // namespace hpsearch::daemon
