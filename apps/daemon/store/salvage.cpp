#include "daemon/store/salvage.hpp"

#include "daemon/store/log_writer.hpp"
#include "daemon/store/new_store_file.hpp"
#include "daemon/store/sqlite_schema.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

// More starts than any daemon makes in its life; a session's number leaves 32 bits for them.
constexpr std::uint64_t starts_between_histories = std::uint64_t{1} << 20U;
constexpr std::uint64_t most_starts = 0xFFFFFFFF;

constexpr std::uint64_t events_per_transaction = 10'000;

class Copying {
 public:
  Copying(ClosedStore& from, SqliteFile& to) : from_(from), to_(to) {}

  Status run(Salvage& result) {
    if (auto begun = begin(); !begun) {
      return begun;
    }
    Status writing = Done{};
    const Status read = from_.read([&](const RecordView& record, const engine::Event& event) -> Status {
      writing = take(record, event);
      if (writing) {
        result.kept = record.lsn;
        result.kept_at = record.at;
      }
      return writing;
    });
    if (!writing) {
      return writing;
    }
    if (!read) {
      result.damage = read.error().message;
    }
    return end_transaction();
  }

 private:
  Status begin() {
    if (from_.daemon_epoch() > most_starts - starts_between_histories) {
      return Error{Errc::wrong_state, from_.path() + " was restored too often to be restored once more"};
    }
    if (auto migrated = migrate(to_); !migrated) {
      return migrated;
    }
    const std::string set = "UPDATE meta SET value = ";
    const std::uint64_t starts = from_.daemon_epoch() + starts_between_histories;
    if (auto identified = to_.run(set + std::to_string(signed_of(from_.cluster())) + " WHERE name = 'cluster';" + set +
                                      std::to_string(starts) + " WHERE name = 'daemon_epoch'",
                                  "cannot write");
        !identified) {
      return identified;
    }
    if (auto opened = writer_.open(to_, starts); !opened) {
      return opened;
    }
    return to_.run("BEGIN", "cannot write");
  }

  Status take(const RecordView& record, const engine::Event& event) {
    if (auto added = writer_.add(record, event); !added) {
      return added;
    }
    if (record.lsn.number() % events_per_transaction != 0) {
      return Done{};
    }
    if (auto ended = end_transaction(); !ended) {
      return ended;
    }
    return to_.run("BEGIN", "cannot write");
  }

  Status end_transaction() {
    if (auto finished = writer_.finish(); !finished) {
      return finished;
    }
    return to_.run("COMMIT", "cannot write");
  }

  ClosedStore& from_;
  SqliteFile& to_;
  LogWriter writer_;
};

}  // namespace

Result<Salvage> salvage(ClosedStore& from, const std::string& to) {
  Salvage result;
  result.stored = from.last_lsn();
  auto made = NewStoreFile::begin(to);
  if (!made) {
    return made.error();
  }
  if (auto copied = Copying(from, (*made)->file()).run(result); !copied) {
    return copied.error();
  }
  if (auto finished = (*made)->finish(); !finished) {
    return finished.error();
  }
  return result;
}

}  // namespace hpsearch::daemon
