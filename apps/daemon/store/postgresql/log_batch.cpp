#include "daemon/store/postgresql/log_batch.hpp"

#include <cstddef>
#include <optional>
#include <variant>

#include "daemon/store/metrics_text.hpp"
#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::daemon {
namespace {

// The row of the store is locked first. A daemon that takes the store over waits for this commit, or this one
// finds another epoch.
constexpr const char* additions = R"sql(
  WITH mine AS (
    UPDATE hpsearch_store SET last_lsn = $3, last_chain = $4, heartbeat = clock_timestamp()
    WHERE epoch = $1 AND last_lsn = $2 RETURNING last_lsn
  ), groups AS (
    INSERT INTO hpsearch_event_group (first, last, epoch, chain, events)
    SELECT new.first, new.last, new.epoch, new.chain, new.events
    FROM mine, unnest($5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bytea[])
      AS new (first, last, epoch, chain, events)
  ), history AS (
    INSERT INTO hpsearch_trial_event (experiment, trial, lsn)
    SELECT new.experiment, new.trial, new.lsn
    FROM mine, unnest($10::bigint[], $11::bigint[], $12::bigint[]) AS new (experiment, trial, lsn)
  ), reports AS (
    INSERT INTO hpsearch_metric (experiment, trial, attempt, seq, step, at, metrics)
    SELECT new.experiment, new.trial, new.attempt, new.seq, new.step, new.at, new.metrics
    FROM mine, unnest($13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[],
                      $19::bytea[]) AS new (experiment, trial, attempt, seq, step, at, metrics)
  )
)sql";

// It sees only rows of earlier commits: LogBatch drops its own.
constexpr const char* removals = R"sql(
  , removed AS (
    DELETE FROM hpsearch_metric AS old
    USING mine, unnest($20::bigint[], $21::bigint[], $22::bigint[], $23::bigint[], $24::bigint[])
      AS run (experiment, trial, attempt, first, last)
    WHERE old.experiment = run.experiment AND old.trial = run.trial AND old.attempt = run.attempt
      AND old.seq BETWEEN run.first AND run.last
  ), removed_curves AS (
    DELETE FROM hpsearch_metric AS old
    USING mine, unnest($25::bigint[], $26::bigint[], $27::bigint[]) AS run (experiment, first, last)
    WHERE old.experiment = run.experiment AND old.trial BETWEEN run.first AND run.last
  ), removed_histories AS (
    DELETE FROM hpsearch_trial_event AS old
    USING mine, unnest($25::bigint[], $26::bigint[], $27::bigint[]) AS run (experiment, first, last)
    WHERE old.experiment = run.experiment AND old.trial BETWEEN run.first AND run.last
  )
)sql";

constexpr const char* outcome = "SELECT last_lsn FROM mine";

template <class Values>
void erase_at(Values& values, std::size_t index) {
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace

void LogBatch::add(const RecordView& record, const engine::Event& event) {
  if (!group_.add(record)) {
    end_group();
    HPSEARCH_CHECK(group_.add(record), "an empty group takes any event");
  }
  last_ = record.lsn;
  chain_ = record.chain;
  ++events_;
  if (const std::optional<TrialPlace> place = history_of(event)) {
    history_.experiment.push_back(place->experiment.number());
    history_.trial.push_back(place->trial.number());
    history_.lsn.push_back(event.lsn.number());
  }
  if (const engine::MetricsReport* report = metrics_in(event)) {
    const auto& taken = *std::get_if<engine::ReportTaken>(&event.body);
    metrics_.experiment.push_back(taken.key.experiment.number());
    metrics_.trial.push_back(taken.key.trial.number());
    metrics_.attempt.push_back(taken.key.attempt.number());
    metrics_.seq.push_back(taken.seq);
    metrics_.step.push_back(engine::count(report->step));
    metrics_.at.push_back(static_cast<std::uint64_t>(event.at.micros()));
    metrics_.metrics.push_back(metrics_text(report->metrics));
  }
  if (const auto* thinned = std::get_if<engine::CurveThinned>(&event.body)) {
    remove_metrics(*thinned);
  }
  if (const auto* removed = std::get_if<engine::RowsRemoved>(&event.body)) {
    remove_rows(*removed);
  }
}

void LogBatch::remove_metrics(const engine::CurveThinned& event) {
  for (const RemovedReports& row : removed_reports(event)) {
    removed_.experiment.push_back(event.experiment.number());
    removed_.trial.push_back(event.trial.number());
    removed_.attempt.push_back(row.attempt.number());
    removed_.first.push_back(row.first);
    removed_.last.push_back(row.last);
    // Only a copy of a log has reports of the trial in the same commit.
    for (std::size_t i = metrics_.seq.size(); i-- > 0;) {
      if (metrics_.experiment[i] == event.experiment.number() && metrics_.trial[i] == event.trial.number() &&
          row.has(engine::AttemptNumber(metrics_.attempt[i]), metrics_.seq[i])) {
        erase_metrics(i);
      }
    }
  }
}

void LogBatch::remove_rows(const engine::RowsRemoved& event) {
  removed_trials_.experiment.push_back(event.experiment.number());
  removed_trials_.first.push_back(event.first.number());
  removed_trials_.last.push_back(event.last.number());
  const auto is_removed = [&event](std::uint64_t experiment, std::uint64_t trial) {
    return experiment == event.experiment.number() && trial >= event.first.number() &&
           trial <= event.last.number();
  };
  for (std::size_t i = metrics_.seq.size(); i-- > 0;) {
    if (is_removed(metrics_.experiment[i], metrics_.trial[i])) {
      erase_metrics(i);
    }
  }
  for (std::size_t i = history_.lsn.size(); i-- > 0;) {
    if (is_removed(history_.experiment[i], history_.trial[i])) {
      erase_at(history_.experiment, i);
      erase_at(history_.trial, i);
      erase_at(history_.lsn, i);
    }
  }
}

void LogBatch::erase_metrics(std::size_t index) {
  erase_at(metrics_.experiment, index);
  erase_at(metrics_.trial, index);
  erase_at(metrics_.attempt, index);
  erase_at(metrics_.seq, index);
  erase_at(metrics_.step, index);
  erase_at(metrics_.at, index);
  erase_at(metrics_.metrics, index);
}

void LogBatch::end_group() {
  const EventGroup group = group_.group();
  groups_.first.push_back(group.first.number());
  groups_.last.push_back(last_.number());
  groups_.epoch.push_back(group.epoch);
  groups_.chain.push_back(chain_);
  groups_.events.emplace_back(reinterpret_cast<const char*>(group.bytes.data()), group.bytes.size());
  group_.clear();
}

engine::Result<bool> LogBatch::store(Connection& connection, std::uint64_t epoch, engine::Lsn after) {
  if (!group_.empty()) {
    end_group();
  }
  Parameters values;
  values.number(epoch).number(after.number()).number(last_.number()).number(chain_);
  values.numbers(groups_.first).numbers(groups_.last).numbers(groups_.epoch).numbers(groups_.chain);
  values.byte_strings(groups_.events);
  values.numbers(history_.experiment).numbers(history_.trial).numbers(history_.lsn);
  values.numbers(metrics_.experiment).numbers(metrics_.trial).numbers(metrics_.attempt);
  values.numbers(metrics_.seq).numbers(metrics_.step).numbers(metrics_.at);
  values.byte_strings(metrics_.metrics);
  std::string statement = additions;
  if (!removed_.first.empty() || !removed_trials_.first.empty()) {
    statement += removals;
    values.numbers(removed_.experiment).numbers(removed_.trial).numbers(removed_.attempt);
    values.numbers(removed_.first).numbers(removed_.last);
    values.numbers(removed_trials_.experiment).numbers(removed_trials_.first).numbers(removed_trials_.last);
  }
  const auto rows = connection.run(statement + outcome, values);
  return rows ? engine::Result<bool>(rows->count() == 1) : engine::Result<bool>(rows.error());
}

}  // namespace hpsearch::daemon
