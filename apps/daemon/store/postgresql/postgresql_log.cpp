#include "daemon/store/postgresql/postgresql_log.hpp"

#include <optional>
#include <variant>

#include "daemon/store/metrics_text.hpp"
#include "daemon/store/postgresql/postgresql_schema.hpp"
#include "daemon/store/postgresql/postgresql_store.hpp"
#include "daemon/store/tools/copy_log.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Error;
using engine::Lsn;
using engine::Result;
using engine::Status;

constexpr std::uint64_t groups_per_read = 64;

}  // namespace

PostgresqlLog::PostgresqlLog(const DatabaseUrl& url) : connection_(url, "SET statement_timeout = 0") {
}

Result<std::unique_ptr<PostgresqlLog>> PostgresqlLog::open(const DatabaseUrl& url) {
  std::unique_ptr<PostgresqlLog> log(new PostgresqlLog(url));
  Connection& connection = log->connection_;
  if (auto begun = connection.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY"); !begun) {
    return begun.error();
  }
  if (auto ours = check_tables_of(connection); !ours) {
    return ours.error();
  }
  const auto head = connection.run(
      "SELECT cluster, epoch, last_lsn, CASE WHEN heartbeat > clock_timestamp() - interval '" +
      std::to_string(holder_counts_for_seconds) + " seconds' THEN holder ELSE '' END FROM hpsearch_store");
  if (!head) {
    return head.error();
  }
  log->cluster_ = head->number(0, 0);
  log->daemon_epoch_ = head->number(0, 1);
  log->last_lsn_ = Lsn(head->number(0, 2));
  log->holder_ = head->text(0, 3);
  return log;
}

Status PostgresqlLog::read(const Visit& visit) {
  LogWalk walk(cluster_);
  for (bool more = true; more;) {
    const auto rows = connection_.run(
        "SELECT first, last - first + 1, epoch, events FROM hpsearch_event_group WHERE first > $1 ORDER BY "
        "first "
        "LIMIT $2",
        Parameters().number(walk.last().number()).number(groups_per_read));
    if (!rows) {
      return rows.error();
    }
    for (int row = 0; row < rows->count(); ++row) {
      const EventGroup group{Lsn(rows->number(row, 0)), rows->number(row, 1), rows->number(row, 2),
                             rows->bytes(row, 3)};
      if (auto taken = walk.take(group, visit); !taken) {
        return taken;
      }
    }
    more = static_cast<std::uint64_t>(rows->count()) == groups_per_read;
  }
  return walk.check_end(last_lsn_);
}

Status PostgresqlLog::check_tables(const engine::Event& event) {
  if (const std::optional<TrialPlace> place = history_of(event)) {
    const auto rows = connection_.run(
        "SELECT lsn FROM hpsearch_trial_event WHERE experiment = $1 AND trial = $2 AND lsn = $3",
        Parameters()
            .number(place->experiment.number())
            .number(place->trial.number())
            .number(event.lsn.number()));
    if (!rows || rows->count() != 1) {
      return rows ? not_in_history(event.lsn) : rows.error();
    }
  }
  const engine::MetricsReport* report = metrics_in(event);
  if (report == nullptr) {
    return Done{};
  }
  const auto& taken = *std::get_if<engine::ReportTaken>(&event.body);
  const auto rows = connection_.run(
      "SELECT step, metrics, at FROM hpsearch_metric WHERE experiment = $1 AND trial = $2 AND attempt = $3 "
      "AND "
      "seq = $4",
      Parameters()
          .number(taken.key.experiment.number())
          .number(taken.key.trial.number())
          .number(taken.key.attempt.number())
          .number(taken.seq));
  if (!rows || rows->count() == 0) {
    return rows ? missing_metrics(event.lsn) : rows.error();
  }
  const bool same = rows->number(0, 0) == engine::count(report->step) &&
                    rows->text(0, 1) == metrics_text(report->metrics) &&
                    rows->number(0, 2) == static_cast<std::uint64_t>(event.at.micros());
  return same ? Status(Done{}) : Status(other_metrics(event.lsn));
}

Status PostgresqlLog::check_table_sizes(std::uint64_t metrics, std::uint64_t trial_events) {
  const auto rows = connection_.run(
      "SELECT (SELECT count(*) FROM hpsearch_metric), (SELECT count(*) FROM hpsearch_trial_event)");
  return rows ? same_sizes(rows->number(0, 0), rows->number(0, 1), metrics, trial_events)
              : Status(rows.error());
}

Status PostgresqlLog::copy_to(const std::string& path) {
  return copy_log_to_file(*this, path, WithSeal::no);
}

}  // namespace hpsearch::daemon
