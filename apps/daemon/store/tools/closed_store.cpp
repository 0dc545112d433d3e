#include "daemon/store/tools/closed_store.hpp"

#include <optional>
#include <utility>

#include "daemon/store/event_group.hpp"
#include "daemon/store/files/new_store_file.hpp"
#include "daemon/store/metrics_text.hpp"
#include "daemon/store/sqlite_schema.hpp"
#include "daemon/store/tools/store_seal.hpp"
#include "daemon/store/tools/write_ahead_log.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Error;
using engine::Lsn;
using engine::Result;
using engine::Status;

constexpr int pages_per_step = 4'096;

}  // namespace

Result<std::unique_ptr<ClosedStore>> ClosedStore::open(const std::string& path) {
  auto lock = StoreLock::take(path, StoreLock::Missing::refused);
  if (!lock) {
    return lock.error();
  }
  std::unique_ptr<ClosedStore> store(new ClosedStore);
  store->lock_ = std::move(lock).value();
  SqliteFile& file = store->file_;
  store->write_ahead_log_ = check_log_of(kernel_files(), path);
  if (auto opened = file.open_untouched(path); !opened) {
    return opened.error();
  }
  if (auto ours = check_schema(file); !ours) {
    return ours.error();
  }
  const auto cluster = file.number("SELECT value FROM meta WHERE name = 'cluster'");
  const auto epoch = file.number("SELECT value FROM meta WHERE name = 'daemon_epoch'");
  const auto last = file.number("SELECT value FROM meta WHERE name = 'last_lsn'");
  for (const auto* number : {&cluster, &epoch, &last}) {
    if (!*number) {
      return number->error();
    }
  }
  auto metric = file.prepare(
      "SELECT step, metrics, at FROM metric WHERE experiment = ? AND trial = ? AND attempt = ? AND seq = ?");
  auto history = file.prepare("SELECT lsn FROM trial_event WHERE experiment = ? AND trial = ? AND lsn = ?");
  if (!metric || !history) {
    return metric ? history.error() : metric.error();
  }
  store->find_metric_ = std::move(metric).value();
  store->find_in_history_ = std::move(history).value();
  store->cluster_ = *cluster;
  store->daemon_epoch_ = *epoch;
  store->last_lsn_ = Lsn(*last);
  // A damaged seal doesn't matter here: the log is checked without it.
  const auto sealed = StoreSeal::read(kernel_files(), path);
  if (sealed && *sealed && (*sealed)->cluster == *cluster && (*sealed)->last > store->last_lsn_) {
    if (store->write_ahead_log_) {
      store->write_ahead_log_ =
          damaged(Lsn(*last + 1), "is missing, and so is every one up to " +
                                      std::to_string((*sealed)->last.number()) +
                                      ", the last that was acknowledged; the write-ahead log " + path +
                                      "-wal is missing, or an older one");
    }
    store->last_lsn_ = (*sealed)->last;
  }
  return store;
}

Status ClosedStore::read(const Visit& visit) {
  const auto select = file_.prepare("SELECT first, count, epoch, events FROM event_group ORDER BY first");
  if (!select) {
    return select.error();
  }
  LogWalk walk(cluster_);
  Use rows(*select);
  Use::Step came_to = rows.step();
  for (; came_to == Use::Step::row; came_to = rows.step()) {
    const EventGroup group{Lsn(rows.number_at(0)), rows.number_at(1), rows.number_at(2), rows.bytes_at(3)};
    if (auto taken = walk.take(group, visit); !taken) {
      return taken;
    }
  }
  if (came_to == Use::Step::failed) {
    return damaged(Lsn(walk.last().number() + 1),
                   "cannot be read (" + file_.problem("cannot read").message + ")");
  }
  return write_ahead_log_ ? walk.check_end(last_lsn_) : write_ahead_log_;
}

Result<std::string> ClosedStore::damaged_pages() {
  const auto check = file_.prepare("PRAGMA integrity_check(1)");
  if (!check) {
    return check.error();
  }
  Use rows(*check);
  if (rows.step() != Use::Step::row) {
    return file_.problem("cannot read");
  }
  const std::string found(rows.text_at(0));
  return found == "ok" ? std::string() : found;
}

Status ClosedStore::check_tables(const engine::Event& event) {
  if (const std::optional<TrialPlace> place = history_of(event)) {
    Use rows(find_in_history_);
    rows.bind(1, place->experiment.number());
    rows.bind(2, place->trial.number());
    rows.bind(3, event.lsn.number());
    if (rows.step() != Use::Step::row) {
      return not_in_history(event.lsn);
    }
  }
  const engine::MetricsReport* report = metrics_in(event);
  if (report == nullptr) {
    return Done{};
  }
  const auto& taken = *std::get_if<engine::ReportTaken>(&event.body);
  Use rows(find_metric_);
  rows.bind(1, taken.key.experiment.number());
  rows.bind(2, taken.key.trial.number());
  rows.bind(3, taken.key.attempt.number());
  rows.bind(4, taken.seq);
  if (rows.step() != Use::Step::row) {
    return missing_metrics(event.lsn);
  }
  if (rows.number_at(0) != engine::count(report->step) || rows.text_at(1) != metrics_text(report->metrics) ||
      rows.number_at(2) != static_cast<std::uint64_t>(event.at.micros())) {
    return other_metrics(event.lsn);
  }
  return Done{};
}

Status ClosedStore::check_table_sizes(std::uint64_t metrics, std::uint64_t trial_events) {
  const auto metric_rows = file_.number("SELECT count(*) FROM metric");
  const auto history_rows = file_.number("SELECT count(*) FROM trial_event");
  if (!metric_rows || !history_rows) {
    return metric_rows ? history_rows.error() : metric_rows.error();
  }
  return same_sizes(*metric_rows, *history_rows, metrics, trial_events);
}

Status ClosedStore::copy_to(const std::string& path) {
  if (!write_ahead_log_) {
    return Error{write_ahead_log_.error().code, file_.path() + ": " + write_ahead_log_.error().message};
  }
  auto made = NewStoreFile::begin(path);
  if (!made) {
    return made.error();
  }
  {
    auto copy = file_.copy_to((*made)->file());
    if (!copy) {
      return copy.error();
    }
    Result<bool> more = true;
    while (more && *more) {
      more = copy->step(pages_per_step);
    }
    if (!more) {
      return more.error();
    }
  }
  return (*made)->finish();
}

}  // namespace hpsearch::daemon
