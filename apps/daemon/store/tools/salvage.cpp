#include "daemon/store/tools/salvage.hpp"

#include <algorithm>
#include <variant>

#include "daemon/store/files/new_store_file.hpp"
#include "daemon/store/log_writer.hpp"
#include "daemon/store/sqlite_schema.hpp"
#include "daemon/store/tools/store_seal.hpp"
#include "hpsearch/engine/experiment/numbering.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

// More starts than any daemon makes in its life; a session's number has 32 bits for them.
constexpr std::uint64_t starts_between_histories = std::uint64_t{1} << 20U;
constexpr std::uint64_t most_starts = 0xFFFFFFFF;
// The starts of a copy are counted from the seconds since then: no daemon starts so often that another copy
// of the same store, made later, would not be ahead of it. The numbers last until 2156.
constexpr std::int64_t first_second = 1'577'836'800;  // 2020-01-01 UTC
// An upper limit for the events of one second, in any log. Numbers that are made from later seconds are
// higher.
constexpr unsigned numbers_per_second_bits = 20;

std::uint64_t starts_from(std::uint64_t old, engine::Instant now) {
  const std::int64_t seconds = now.micros() / 1'000'000 - first_second;
  const bool sound = seconds > 0 && static_cast<std::uint64_t>(seconds) > old;
  return sound ? static_cast<std::uint64_t>(seconds) : old + starts_between_histories;
}

constexpr std::uint64_t events_per_transaction = 10'000;

class Copying {
 public:
  Copying(StoredLog& from, SqliteFile& to, engine::Instant now, std::optional<engine::Lsn> upto)
      : from_(from), to_(to), now_(now), upto_(upto), starts_(starts_from(from.daemon_epoch(), now)) {}

  Status run(Salvage& result) {
    if (auto begun = begin(); !begun) {
      return begun;
    }
    Status writing = Done{};
    bool is_cut = false;
    const Status read = from_.read([&](const RecordView& record, const engine::Event& event) -> Status {
      if (upto_ && record.lsn > *upto_ && record.at != result.kept_at) {
        is_cut = true;
        return Error{Errc::wrong_state, "the rest is left out"};
      }
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
    if (!read && !is_cut) {
      result.damage = read.error().message;
    }
    if (auto numbered = number_anew(result); !numbered) {
      return numbered;
    }
    if (auto ended = end_transaction(); !ended) {
      return ended;
    }
    result.starts = starts_;
    return Done{};
  }

 private:
  Status begin() {
    if (starts_ > most_starts) {
      return Error{Errc::wrong_state, from_.path() + " was restored too often to be restored once more"};
    }
    if (auto prepared = prepare_schema(to_); !prepared) {
      return prepared;
    }
    const std::string set = "UPDATE meta SET value = ";
    if (auto identified =
            to_.run(set + std::to_string(signed_of(from_.cluster())) + " WHERE name = 'cluster';" + set +
                        std::to_string(starts_) + " WHERE name = 'daemon_epoch'",
                    "cannot write");
        !identified) {
      return identified;
    }
    if (auto opened = writer_.open(to_, starts_); !opened) {
      return opened;
    }
    return to_.run("BEGIN", "cannot write");
  }

  Status take(const RecordView& record, const engine::Event& event) {
    if (auto added = writer_.add(record, event); !added) {
      return added;
    }
    chain_ = record.chain;
    if (const auto* restored = std::get_if<engine::StoreRestored>(&event.body)) {
      numbers_from_ = restored->numbers_from;
    }
    if (record.lsn.number() % events_per_transaction != 0) {
      return Done{};
    }
    if (auto ended = end_transaction(); !ended) {
      return ended;
    }
    return to_.run("BEGIN", "cannot write");
  }

  /// Appended after the last event: the numbers of later objects must differ from those of the lost events.
  Status number_anew(const Salvage& result) {
    const engine::Lsn lsn(result.kept.number() + 1);
    const std::uint64_t beyond = numbers_from_ + lsn.number() + engine::Numbering::first_after_a_restore;
    const std::uint64_t by_time = starts_ << numbers_per_second_bits;
    const engine::Instant at = std::max(result.kept_at, now_);
    const engine::Duration uncounted =  // The type that events use.
        result.kept.number() == 0 ? engine::Duration{}
                                  : engine::Duration::millis((at - result.kept_at).in_micros() / 1'000);
    const engine::Event event{
        lsn, at, engine::StoreRestored{by_time > numbers_from_ + lsn.number() ? by_time : beyond, uncounted}};
    const StoredRecord record =
        make_record(event, starts_, result.kept.number() == 0 ? chain_start(from_.cluster()) : chain_);
    return writer_.add(record.view(), event);
  }

  Status end_transaction() {
    if (auto finished = writer_.finish(); !finished) {
      return finished;
    }
    return to_.run("COMMIT", "cannot write");
  }

  StoredLog& from_;
  SqliteFile& to_;
  engine::Instant now_;
  std::optional<engine::Lsn> upto_;
  std::uint64_t starts_;
  std::uint64_t numbers_from_ = 0;  // First free number in the log so far.
  std::uint32_t chain_ = 0;         // Chain of the last record.
  LogWriter writer_;
};

}  // namespace

Result<Salvage> salvage(StoredLog& from, const std::string& to, engine::Instant now,
                        std::optional<engine::Lsn> upto) {
  Salvage result;
  result.stored = from.last_lsn();
  auto made = NewStoreFile::begin(to);
  if (!made) {
    return made.error();
  }
  if (auto copied = Copying(from, (*made)->file(), now, upto).run(result); !copied) {
    return copied.error();
  }
  // Written before the store: a store that has had a start must have a seal.
  const StoreHead head{from.cluster(), result.starts, engine::Lsn(result.kept.number() + 1), true};
  if (auto sealed = StoreSeal::begin(kernel_files(), to, head); !sealed) {
    return sealed.error();
  }
  if (auto finished = (*made)->finish(); !finished) {
    return finished.error();
  }
  return result;
}

}  // namespace hpsearch::daemon
