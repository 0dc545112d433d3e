#include "daemon/store/postgresql/postgresql_store.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "daemon/store/metrics_text.hpp"
#include "daemon/store/postgresql/heartbeat.hpp"
#include "daemon/store/postgresql/log_batch.hpp"
#include "daemon/store/postgresql/postgresql_schema.hpp"
#include "daemon/store/read_ahead.hpp"
#include "daemon/store/written_log.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Lsn;
using engine::Result;
using engine::Status;

constexpr std::chrono::seconds look_every{1};
constexpr std::uint64_t groups_per_read = 64;  // At most 4 MiB, unless events are larger than a group.
constexpr std::uint64_t most_reports_per_read = 10'000;
// A session's number has 32 bits for the daemon's starts.
constexpr const char* most_epochs = "4294967295";

constexpr const char* group_columns =
    "SELECT first, last - first + 1, epoch, events FROM hpsearch_event_group ";

EventGroup group_at(const Rows& rows, int row) {
  return {Lsn(rows.number(row, 0)), rows.number(row, 1), rows.number(row, 2), rows.bytes(row, 3)};
}

engine::Instant instant_at(const Rows& rows, int row, int column) {
  return engine::Instant::from_micros(static_cast<std::int64_t>(rows.number(row, column)));
}

}  // namespace

struct PostgresqlStore::Impl : WrittenLog {
  explicit Impl(const DatabaseUrl& url) : connection(url, durable_commits) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (!heartbeat) {
      return;
    }
    const bool ours = static_cast<bool>(heartbeat->check_ours());
    heartbeat.reset();
    if (ours) {
      static_cast<void>(connection.run("UPDATE hpsearch_store SET holder = '' WHERE epoch = $1",
                                       Parameters().number(epoch)));
    }
  }

  Connection connection;
  std::optional<Heartbeat> heartbeat;
  std::uint64_t cluster = 0;
  std::uint64_t epoch = 0;
  Lsn head;                      // The last event when the store was taken.
  std::uint32_t head_chain = 0;  // Its chain.

  /// True if the store is ours now. False: another daemon has it.
  Result<bool> take(const StoreHolder& holder) {
    const auto taken = connection.run(
        std::string(
            "UPDATE hpsearch_store SET epoch = epoch + 1, holder = $1, holder_place = $2, heartbeat = "
            "clock_timestamp() WHERE epoch < ") +
            most_epochs +
            " AND (holder = '' OR holder_place = $2 OR $3 = 1 OR heartbeat < clock_timestamp() - $4 * "
            "interval "
            "'1 microsecond') RETURNING cluster, epoch, last_lsn, last_chain",
        Parameters()
            .text(holder.name)
            .text(holder.place)
            .number(holder.take_over ? 1 : 0)
            .number(static_cast<std::uint64_t>(holder.counts_for.in_micros())));
    if (!taken || taken->count() != 1) {
      return taken ? Result<bool>(false) : Result<bool>(taken.error());
    }
    cluster = taken->number(0, 0);
    epoch = taken->number(0, 1);
    head = Lsn(taken->number(0, 2));
    head_chain = static_cast<std::uint32_t>(taken->number(0, 3));
    chain = chain_start(cluster);
    return true;
  }

  /// The daemon that has the store, and its last sign of life.
  struct Other {
    std::string name;
    std::uint64_t beat = 0;
  };
  /// wrong_state: no daemon can take the store any more.
  Result<Other> look() {
    const auto now = connection.read(
        "SELECT holder, (extract(epoch FROM heartbeat) * 1000000)::bigint, epoch FROM hpsearch_store");
    if (!now) {
      return now.error();
    }
    if (now->count() != 1) {
      return Error{Errc::corrupt, connection.url() + ": the table hpsearch_store has no row"};
    }
    if (std::to_string(now->number(0, 2)) == most_epochs) {
      return Error{Errc::wrong_state, connection.url() + " was started too often to be started once more"};
    }
    return Other{std::string(now->text(0, 0)), now->number(0, 1)};
  }

  Status wait_for_it(const StoreHolder& holder, const Waiting& waiting) {
    const std::string after = std::to_string(holder.counts_for.in_micros() / 1'000'000) + " seconds";
    std::optional<std::uint64_t> first_beat;
    for (;;) {
      const auto taken = take(holder);
      if (taken && *taken) {
        return Done{};
      }
      const auto other = taken ? look() : Result<Other>(taken.error());
      if (!other && (!holder.standby || other.error().code != Errc::unavailable)) {
        return other.error();
      }
      if (other && !holder.standby && first_beat.value_or(other->beat) != other->beat) {
        return Error{Errc::wrong_state,
                     "the store " + connection.url() + " is in use by " + other->name +
                         "; stop that daemon, take its store over (--take-over), or wait for it (--standby)"};
      }
      if (other) {
        first_beat = other->beat;
      }
      if (waiting) {
        waiting(other ? other->name + " has the store " + connection.url() + "; this daemon takes it over " +
                            after + " after its last sign of life"
                      : other.error().message);
      }
      std::this_thread::sleep_for(look_every);
    }
  }

  /// Adds groups that follow `last` and chain to it, and ends the batch at the last one.
  void fill(RecordBatch& batch, std::optional<Rows>& rows, int& next) {
    while (!batch.full() && !batch.end()) {
      if (!rows || next == rows->count()) {
        if (rows && rows->count() < static_cast<int>(groups_per_read)) {
          batch.end(Done{});
          return;
        }
        auto more = connection.read(std::string(group_columns) + "WHERE first > $1 ORDER BY first LIMIT $2",
                                    Parameters().number(last.number()).number(groups_per_read));
        if (!more) {
          batch.end(Error{more.error().code,
                          "after event " + std::to_string(last.number()) + ": " + more.error().message});
          return;
        }
        rows = std::move(more).value();
        next = 0;
        continue;
      }
      EventGroup sound;
      const Status checked = check_group(group_at(*rows, next++), last, chain, sound);
      batch.add(sound);
      if (!checked) {
        batch.end(Error{checked.error().code, connection.url() + ": " + checked.error().message});
      }
    }
  }

  Error give_up(Error error) {
    broken = error;
    return error;
  }

  /// Finds out why nothing was stored. Done: the same commit was made before, and its answer was lost.
  Status settle(const LogBatch& batch) {
    const auto now = connection.read("SELECT epoch, last_lsn, last_chain FROM hpsearch_store");
    if (!now) {
      return now.error();
    }
    if (now->count() != 1 || now->number(0, 0) != epoch) {
      return give_up(taken_over(connection, epoch));
    }
    if (Lsn(now->number(0, 1)) == batch.last() && now->number(0, 2) == batch.chain()) {
      return Done{};
    }
    return give_up(Error{Errc::corrupt,
                         "the log in " + connection.url() + " ends with event " +
                             std::to_string(now->number(0, 1)) + ", but event " +
                             std::to_string(last.number()) +
                             " was acknowledged; the database was restored, or a standby without the last "
                             "commits was promoted"});
  }
};

PostgresqlStore::PostgresqlStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
}
PostgresqlStore::~PostgresqlStore() = default;

Result<std::unique_ptr<PostgresqlStore>> PostgresqlStore::open(const DatabaseUrl& url,
                                                               const StoreHolder& holder,
                                                               const Waiting& waiting) {
  auto impl = std::make_unique<Impl>(url);
  if (auto prepared = prepare_tables(impl->connection); !prepared) {
    return prepared.error();
  }
  if (auto taken = impl->wait_for_it(holder, waiting); !taken) {
    return taken.error();
  }
  impl->heartbeat.emplace(url, impl->epoch);
  return std::unique_ptr<PostgresqlStore>(new PostgresqlStore(std::move(impl)));
}

std::uint64_t PostgresqlStore::cluster() const noexcept {
  return impl_->cluster;
}

std::uint64_t PostgresqlStore::daemon_epoch() const noexcept {
  return impl_->epoch;
}

Status PostgresqlStore::recover(const Visit& visit) {
  Impl& impl = *impl_;
  impl.check_before_recovery();
  std::optional<Rows> rows;
  int next = 0;
  ReadAhead ahead(impl.connection.url(), [&](RecordBatch& batch) { impl.fill(batch, rows, next); });
  if (auto handed_out = ahead.hand_out(visit); !handed_out) {
    return handed_out;
  }
  if (impl.last != impl.head || (impl.head.number() > 0 && impl.chain != impl.head_chain)) {
    return impl.other_end(impl.connection.url(), impl.head);
  }
  impl.recovered = true;
  return Done{};
}

Status PostgresqlStore::append(std::span<const engine::Event> group) {
  Impl& impl = *impl_;
  if (auto may = impl.check_before_append(group); !may || group.empty()) {
    return may;
  }
  LogBatch batch;
  std::uint32_t chain = impl.chain;
  for (const engine::Event& event : group) {
    const StoredRecord record = make_record(event, impl.epoch, chain);
    chain = record.chain;
    batch.add(record.view(), event);
  }
  const auto stored = batch.store(impl.connection, impl.epoch, impl.last);
  if (!stored) {
    // Also if it is unknown whether the commit was made: the same group finds out when it is given again.
    return stored.error().code == Errc::unavailable
               ? stored.error()
               : impl.give_up(Error{Errc::corrupt, stored.error().message});
  }
  if (!*stored) {
    if (auto settled = impl.settle(batch); !settled) {
      return settled;
    }
  }
  impl.chain = chain;
  impl.last = batch.last();
  return Done{};
}

Lsn PostgresqlStore::last_lsn() const noexcept {
  return impl_->last;
}

Lsn PostgresqlStore::stored_lsn() const {
  return impl_->head;
}

Status PostgresqlStore::check_ours() const {
  return impl_->heartbeat->check_ours();
}

Result<std::vector<engine::Event>> PostgresqlStore::read(Lsn after, std::size_t limit) {
  std::vector<engine::Event> events;
  proto::EventDecoder decoder;
  const Lsn end(std::min(last_lsn().number(), after.number() + std::min<std::uint64_t>(limit, 1ULL << 40U)));
  for (Lsn read = after; read < end;) {
    const auto rows = impl_->connection.read(
        std::string(group_columns) +
            "WHERE first >= coalesce((SELECT max(first) FROM hpsearch_event_group WHERE first <= $1), 0) AND "
            "first <= $2 ORDER BY first LIMIT $3",
        Parameters().number(read.number() + 1).number(end.number()).number(groups_per_read));
    if (!rows) {
      return rows.error();
    }
    const Lsn before = read;
    for (int row = 0; row < rows->count(); ++row) {
      GroupReader reader(group_at(*rows, row));
      for (auto record = reader.next(); record && read < end; record = reader.next()) {
        if (record->lsn <= read) {
          continue;
        }
        if (const auto taken = decode_record(*record, decoder, events.emplace_back()); !taken) {
          return taken.error();
        }
        read = record->lsn;
      }
    }
    if (read == before) {
      return damaged(Lsn(read.number() + 1), "is missing");
    }
  }
  return events;
}

Result<std::vector<engine::Event>> PostgresqlStore::history(engine::ExperimentId experiment,
                                                            engine::TrialNumber trial) {
  // The bytes of a group come once, with its first event of the trial.
  const auto rows = impl_->connection.read(
      "SELECT held.first, held.last - held.first + 1, held.epoch, CASE WHEN listed.lsn = min(listed.lsn) "
      "OVER "
      "(PARTITION BY held.first) THEN held.events END, listed.lsn FROM hpsearch_trial_event AS listed CROSS "
      "JOIN "
      "LATERAL (SELECT * FROM hpsearch_event_group WHERE first <= listed.lsn ORDER BY first DESC LIMIT 1) AS "
      "held "
      "WHERE listed.experiment = $1 AND listed.trial = $2 ORDER BY listed.lsn",
      Parameters().number(experiment.number()).number(trial.number()));
  if (!rows) {
    return rows.error();
  }
  std::vector<engine::Event> events;
  proto::EventDecoder decoder;
  std::optional<GroupReader> reader;
  for (int row = 0; row < rows->count(); ++row) {
    if (!rows->is_null(row, 3)) {
      reader.emplace(group_at(*rows, row));
    }
    const Lsn wanted(rows->number(row, 4));
    std::optional<RecordView> record = reader ? reader->next() : std::nullopt;
    while (record && record->lsn < wanted) {
      record = reader->next();
    }
    if (!record || record->lsn != wanted) {
      return damaged(wanted, "is missing");
    }
    if (const auto taken = decode_record(*record, decoder, events.emplace_back()); !taken) {
      return taken.error();
    }
  }
  return events;
}

Result<std::vector<MetricPoint>> PostgresqlStore::metrics(engine::ExperimentId experiment,
                                                          engine::TrialNumber trial, MetricPosition after,
                                                          std::size_t enough_numbers) {
  std::vector<MetricPoint> points;
  std::size_t numbers = 0;
  while (numbers < enough_numbers) {
    const std::uint64_t most = std::min<std::uint64_t>(enough_numbers - numbers, most_reports_per_read);
    const auto rows = impl_->connection.read(
        "SELECT attempt, seq, step, metrics, at FROM hpsearch_metric WHERE experiment = $1 AND trial = $2 "
        "AND "
        "(attempt, seq) > ($3, $4) ORDER BY attempt, seq LIMIT $5",
        Parameters()
            .number(experiment.number())
            .number(trial.number())
            .number(after.attempt.number())
            .number(after.seq)
            .number(most));
    if (!rows) {
      return rows.error();
    }
    for (int row = 0; row < rows->count() && numbers < enough_numbers; ++row) {
      auto metrics = metrics_of(std::string(rows->text(row, 3)));
      if (!metrics) {
        return Error{Errc::corrupt, impl_->connection.url() + ": a metrics report of trial " +
                                        std::to_string(trial.number()) + " of experiment " +
                                        std::to_string(experiment.number()) + " is damaged"};
      }
      numbers += metrics->size();
      after = {engine::AttemptNumber(rows->number(row, 0)), rows->number(row, 1)};
      points.push_back({after.attempt, after.seq, engine::Units(rows->number(row, 2)), std::move(*metrics),
                        instant_at(*rows, row, 4)});
    }
    if (static_cast<std::uint64_t>(rows->count()) < most) {
      break;
    }
  }
  return points;
}

Result<CurvePage> PostgresqlStore::curves(engine::ExperimentId experiment, const std::string& metric,
                                          CurvePosition after, engine::TrialNumber last,
                                          std::size_t most_reports) {
  const std::uint64_t most = std::min<std::uint64_t>(most_reports, most_reports_per_read);
  const auto rows = impl_->connection.read(
      "SELECT trial, attempt, seq, step, at, metrics FROM hpsearch_metric WHERE experiment = $1 AND (trial, "
      "attempt, seq) > ($2, $3, $4) AND trial <= $5 ORDER BY trial, attempt, seq LIMIT $6",
      Parameters()
          .number(experiment.number())
          .number(after.trial.number())
          .number(after.report.attempt.number())
          .number(after.report.seq)
          .number(last.number())
          .number(most));
  if (!rows) {
    return rows.error();
  }
  CurvePage page;
  const std::string key = metric_key(metric);
  for (int row = 0; row < rows->count(); ++row) {
    const engine::TrialNumber trial(rows->number(row, 0));
    const engine::AttemptNumber attempt(rows->number(row, 1));
    if (const std::optional<double> value = number_in(rows->text(row, 5), key)) {
      page.points.push_back(
          {trial, attempt, engine::Units(rows->number(row, 3)), instant_at(*rows, row, 4), *value});
    }
    if (static_cast<std::uint64_t>(row) + 1 == most) {
      page.next = CurvePosition{trial, {attempt, rows->number(row, 2)}};
    }
  }
  return page;
}

}  // namespace hpsearch::daemon
