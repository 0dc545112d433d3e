#include "daemon/store/tools/store_check.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/engine.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Status;

class Checking {
 public:
  Checking(StoredLog& store, engine::SearcherRegistry registry) : store_(store), engine_(registry) {}

  StoreCheck run() {
    if (const auto pages = store_.damaged_pages(); !pages || !pages->empty()) {
      check_.damages.push_back(store_.path() + ": " + (pages ? *pages : pages.error().message));
    }
    const Status read = store_.read(
        [this](const RecordView& /*record*/, const engine::Event& event) -> Status { return take(event); });
    if (!read) {
      check_.damages.push_back(store_.path() + ": " + read.error().message);
    } else if (!missing_.empty()) {
      const Missing& first = missing_.begin()->second.front();
      report_tables(first.attempt == engine::AttemptNumber{} ? not_in_history(first.lsn)
                                                             : missing_metrics(first.lsn));
    } else if (const Status sizes = store_.check_table_sizes(metrics_, trial_events_); !sizes) {
      check_.damages.push_back(store_.path() + ": " + sizes.error().message);
    }
    return std::move(check_);
  }

 private:
  Status take(const engine::Event& event) {
    if (auto replayed = engine_.replay(event); !replayed) {
      return engine::Error{replayed.error().code, "event " + std::to_string(event.lsn.number()) +
                                                      " of the log: " + replayed.error().message};
    }
    check_.last = event.lsn;
    // A table that is wrong in many places is reported once: one damage explains the others.
    const Status tables = store_.check_tables(event);
    const bool is_missing = !tables && tables.error().code == engine::Errc::not_found && note_missing(event);
    if (!tables && !is_missing) {
      report_tables(tables.error());
    }
    if (const auto* thinned = std::get_if<engine::CurveThinned>(&event.body)) {
      forget_missing(*thinned);
    } else if (const auto* removed = std::get_if<engine::RowsRemoved>(&event.body)) {
      missing_.erase(missing_.lower_bound({removed->experiment, removed->first}),
                     missing_.upper_bound({removed->experiment, removed->last}));
    }
    metrics_ += metrics_in(event) != nullptr && !is_missing ? 1U : 0U;
    trial_events_ += history_of(event) && !is_missing ? 1U : 0U;
    return Done{};
  }

  void report_tables(const engine::Error& error) {
    if (!std::exchange(reported_tables_, true)) {
      check_.damages.push_back(store_.path() + ": " + error.message);
    }
  }

  /// False: the event has no rows. An event has a row in one of the two tables.
  bool note_missing(const engine::Event& event) {
    if (metrics_in(event) != nullptr) {
      const auto& report = std::get<engine::ReportTaken>(event.body);
      missing_[{report.key.experiment, report.key.trial}].push_back(
          {report.key.attempt, report.seq, event.lsn});
      return true;
    }
    const std::optional<TrialPlace> place = history_of(event);
    if (place) {
      missing_[{place->experiment, place->trial}].push_back({{}, 0, event.lsn});
    }
    return place.has_value();
  }

  void forget_missing(const engine::CurveThinned& event) {
    const auto found = missing_.find({event.experiment, event.trial});
    if (found == missing_.end()) {
      return;
    }
    for (const RemovedReports& row : removed_reports(event)) {
      std::erase_if(found->second, [&row](const Missing& one) { return row.has(one.attempt, one.seq); });
    }
    if (found->second.empty()) {
      missing_.erase(found);
    }
  }

  /// An event without its row, which nothing has removed so far.
  struct Missing {
    engine::AttemptNumber attempt;  ///< Attempt of a report of metrics; 0 = an event of a history.
    std::uint64_t seq = 0;
    engine::Lsn lsn;
  };

  StoredLog& store_;
  engine::Engine engine_;
  StoreCheck check_;
  std::map<std::pair<engine::ExperimentId, engine::TrialNumber>, std::vector<Missing>> missing_;
  std::uint64_t metrics_ = 0;  ///< Reports whose metrics the table has.
  std::uint64_t trial_events_ = 0;
  bool reported_tables_ = false;
};

}  // namespace

bool StoreCheck::sound() const noexcept {
  return damages.empty();
}

StoreCheck check_store(StoredLog& store, engine::SearcherRegistry registry) {
  return Checking(store, registry).run();
}

}  // namespace hpsearch::daemon
