#include "daemon/retention/retention.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <set>
#include <string>
#include <variant>

#include "hpsearch/engine/experiment/deleted_experiment.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"
#include "hpsearch/engine/experiment/trial_record.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/proto/sentences/words.hpp"

namespace hpsearch::daemon {
namespace {

using engine::ExperimentId;
using engine::Result;
using engine::TrialNumber;

constexpr std::chrono::seconds look_every{10};
// Each removal costs as much as the experiment has trials, and other requests wait for it.
constexpr std::size_t most_experiments_at_once = 16;
constexpr std::uint64_t most_trials_at_once = 20'000;
constexpr std::uint64_t most_curves_at_once = 500;
constexpr std::size_t most_events_at_once = 500;
constexpr std::uint64_t most_row_removals_at_once = 64;
// One commit removes all their rows.
constexpr std::uint64_t trials_per_row_removal = 32;

/// Reads a curve, and the lengths at which its trial was judged.
Result<CurveLoss> loss_of(EventStore& store, const Retention::Trial& trial, std::set<engine::Units> decisive,
                          std::uint64_t most) {
  const auto history = store.history(trial.first, trial.second);
  if (!history) {
    return history.error();
  }
  for (const engine::Event& event : *history) {
    if (const auto* reached = std::get_if<engine::LengthReached>(&event.body)) {
      decisive.insert(reached->step);
    }
  }
  const auto reports = store.metrics(trial.first, trial.second, {}, std::numeric_limits<std::size_t>::max());
  return reports ? Result<CurveLoss>(curve_loss(*reports, decisive, most)) : reports.error();
}

/// The steps of the best and the last result.
std::set<engine::Units> decisive_steps(const engine::TrialRecord& trial) {
  std::set<engine::Units> steps;
  for (const auto* result : {&trial.best, &trial.latest}) {
    if (*result) {
      steps.insert((*result)->step);
    }
  }
  return steps;
}

}  // namespace

Retention::Retention(Runtime& runtime, RetentionRules rules)
    : runtime_(runtime), rules_(rules), clock_(runtime.loop().every(look_every, [this] { look(); })) {
}

void Retention::follow(RetentionRules rules) {
  if (rules.most_reports != rules_.most_reports) {
    read_.clear();
  }
  rules_ = rules;
}

void Retention::stop() noexcept {
  clock_ = {};
  trials_left_ = 0;
}

void Retention::look() {
  if (runtime_.stalled()) {
    return;
  }
  remove_experiments();
  remove_rows();
  if (thinned_ > 0) {
    net::log(net::Level::info, "curves of " + sentences::counted(thinned_, "stopped trial") +
                                   " lost reports (retention.metrics_of_stopped_trials)");
    thinned_ = 0;
  }
  trials_left_ = most_trials_at_once;
  curves_left_ = most_curves_at_once;
  if (!reads_a_curve_) {
    thin_next_curve();
  }
}

void Retention::remove_experiments() {
  for (const ExperimentId id :
       experiments_to_remove(runtime_.engine(), rules_, runtime_.now(), most_experiments_at_once)) {
    const std::string name = runtime_.engine().find(id)->config.name;
    const auto removed = runtime_.perform(engine::DeleteExperiment{id, rules_.ended_experiments});
    const std::string what = "experiment " + std::to_string(id.number()) + " \"" + name + "\"";
    if (removed) {
      net::log(net::Level::info, what + " was removed: it ended more than " +
                                     engine::kept_for_text(rules_.ended_experiments) +
                                     " ago (retention.ended_experiments)");
    } else {
      net::log(net::Level::warning, what + " can't be removed: " + removed.error().message);
    }
  }
}

/// Removes the rows of all deleted experiments, also of those that users deleted.
void Retention::remove_rows() {
  std::uint64_t left = most_row_removals_at_once;
  std::vector<ExperimentId> with_rows;
  for (const auto& [id, deleted] : runtime_.engine().deleted()) {
    if (deleted.rows_removed < deleted.trials) {
      with_rows.push_back(id);
    }
  }
  for (const ExperimentId id : with_rows) {
    while (left > 0 && runtime_.perform(engine::RemoveRows{id, trials_per_row_removal})) {
      --left;
    }
  }
}

/// One at a time: commits wait for the store's thread.
void Retention::thin_next_curve() {
  const std::optional<Trial> trial = next_trial();
  reads_a_curve_ = trial.has_value();
  if (!trial) {
    return;
  }
  const engine::TrialRecord& record = *runtime_.engine().find(trial->first, trial->second);
  runtime_.read([this, trial = *trial, decisive = decisive_steps(record),
                 most = *rules_.most_reports](EventStore& store) -> Committer::Then {
    const Result<CurveLoss> loss = loss_of(store, trial, decisive, most);
    return [this, trial, loss] {
      if (!loss) {
        net::log(net::Level::warning, "a curve can't be read: " + loss.error().message);
      } else if (!loss->removed.empty()) {
        // Refused if the experiment was deleted meanwhile.
        const auto done =
            runtime_.perform(engine::ThinCurve{trial.first, trial.second, loss->left, loss->removed});
        thinned_ += done ? 1U : 0U;
      }
      thin_next_curve();
    };
  });
}

std::optional<Retention::Trial> Retention::next_trial() {
  const auto& experiments = runtime_.engine().experiments();
  while (rules_.most_reports && trials_left_ > 0 && curves_left_ > 0) {
    --trials_left_;
    const auto at = experiments.lower_bound(next_.first);
    if (at == experiments.end()) {
      next_ = {};
      trials_left_ = 0;  // The next look begins with the first experiment again.
      std::erase_if(read_, [&experiments](const auto& one) { return !experiments.contains(one.first); });
      break;
    }
    const auto& [id, record] = *at;
    const std::uint64_t number = id == next_.first ? next_.second.number() : 0;
    if (number >= record.trials.size()) {
      next_ = {ExperimentId(id.number() + 1), TrialNumber(0)};
      continue;
    }
    next_ = {id, TrialNumber(number + 1)};
    std::vector<bool>& read = read_[id];
    read.resize(record.trials.size());
    if (!read[number] && may_lose_reports(record.trials[number], rules_, runtime_.now())) {
      read[number] = true;
      --curves_left_;
      return Trial{id, TrialNumber(number)};
    }
  }
  return std::nullopt;
}

void Retention::note_removed_logs(const std::vector<Trial>& trials) {
  std::map<ExperimentId, std::vector<TrialNumber>> by_experiment;
  for (const auto& [experiment, trial] : trials) {
    if (runtime_.engine().find(experiment) != nullptr) {
      by_experiment[experiment].push_back(trial);
    }
  }
  for (const auto& [experiment, all] : by_experiment) {
    net::log(net::Level::info, "kept logs of " + sentences::counted(all.size(), "trial") + " of experiment " +
                                   std::to_string(experiment.number()) + " were removed to make room");
    for (std::size_t first = 0; first < all.size() && !runtime_.stalled(); first += most_events_at_once) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = begin + static_cast<std::ptrdiff_t>(std::min(most_events_at_once, all.size() - first));
      static_cast<void>(runtime_.perform(engine::NoteLogsRemoved{experiment, {begin, end}}));
    }
  }
}

}  // namespace hpsearch::daemon
