#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "contract/course_trial.hpp"
#include "contract/trial_budget.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::contract {

// Settings that users change while a search runs. Each function draws a new value, enters it into the budget
// and returns the event for the searcher; nothing where the searcher refuses the value in an experiment file.

[[nodiscard]] inline std::optional<engine::SearchEvent> change_max_trials(TrialBudget& budget,
                                                                          engine::Draw& chance) {
  const std::uint64_t before = budget.config().searcher.max_trials;
  const std::uint64_t wanted = std::max<std::uint64_t>(1, chance.below(before + before / 2 + 2));
  return budget.set_max_trials(wanted) ? std::optional<engine::SearchEvent>(engine::MaxTrialsChanged{wanted})
                                       : std::nullopt;
}

/// Some of the new points were started before, or are what a later trial would draw.
[[nodiscard]] inline std::optional<engine::SearchEvent> change_points(TrialBudget& budget,
                                                                      const std::vector<CourseTrial>& trials,
                                                                      engine::Draw& chance) {
  const engine::ExperimentConfig& config = budget.config();
  std::vector<engine::Value> points;
  for (std::uint64_t i = chance.below(4); i > 0; --i) {
    if (chance.below(3) == 0 && !trials.empty()) {
      points.push_back(trials[static_cast<std::size_t>(chance.below(trials.size()))].hparams);
    } else {
      const engine::TrialNumber to_come(trials.size() + chance.below(8));
      points.push_back(config.space.sample(config.experiment_seed + chance.below(2), to_come));
    }
  }
  return budget.set_points(points) ? std::optional<engine::SearchEvent>(engine::PointsChanged{points})
                                   : std::nullopt;
}

[[nodiscard]] inline std::optional<engine::SearchEvent> change_duplicates(
    TrialBudget& budget, const std::vector<CourseTrial>& trials) {
  if (!budget.set_on_duplicate(budget.rejects() ? engine::OnDuplicate::allow : engine::OnDuplicate::reject)) {
    return std::nullopt;
  }
  engine::DuplicatesChanged changed{budget.rejects(), {}};
  for (const CourseTrial& trial : trials) {
    if (budget.rejects()) {
      changed.started.push_back(trial.hparams);
    }
  }
  return changed;
}

}  // namespace hpsearch::contract
