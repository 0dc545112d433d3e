#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <string>

#include "contract/arbitrary_space.hpp"
#include "contract/fault_plan.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"

// Small searches of every sort, drawn piece by piece so that rapidcheck can make a failing one smaller. Each
// function runs inside a property.

namespace hpsearch::contract {

/// Any settings, of which a searcher reads what it knows; they may still contradict each other.
[[nodiscard]] inline engine::ExperimentConfig arbitrary_config(Spaces spaces) {
  engine::ExperimentConfig config;
  engine::Problems problems;
  engine::Problems notes;
  config.hyperparameters = arbitrary_hyperparameters(spaces);
  config.space = engine::Space::parse(config.hyperparameters, "hyperparameters", problems, notes);
  RC_PRE(problems.empty());  // Two conditions may contradict each other.
  if (spaces != Spaces::constants) {
    config.where = arbitrary_where(config.space);
    config.space.constrain(config.where, "where", problems);
    RC_ASSERT(problems.empty());
    RC_PRE(is_often_allowed(config.space));
  }
  config.experiment_seed = up_to(1000);

  engine::SearcherConfig& searcher = config.searcher;
  searcher.max_length = engine::Units{1 + up_to(40)};
  searcher.max_trials = 1 + up_to(20);
  searcher.max_concurrent_trials = up_to(8);
  searcher.smaller_is_better = *rc::gen::arbitrary<bool>();
  searcher.stop_once = *rc::gen::arbitrary<bool>();
  searcher.divisor = *rc::gen::element(2.0, 3.0, 4.0, 1.5, 2.5);
  searcher.num_rungs = 1 + up_to(4);
  searcher.max_rungs = 1 + up_to(4);
  searcher.mode = static_cast<engine::AshaMode>(up_to(2));
  for (std::uint64_t i = 0, brackets = up_to(8); i < brackets && brackets < 3; ++i) {
    searcher.bracket_rungs.push_back(1 + up_to(3));
  }
  searcher.on_duplicate =
      *rc::gen::arbitrary<bool>() ? engine::OnDuplicate::reject : engine::OnDuplicate::allow;
  for (std::uint64_t i = 0, points = up_to(6); i < points && points < 3; ++i) {
    searcher.points_to_evaluate.push_back(config.space.sample(7, engine::TrialNumber(i)));
  }
  return config;
}

[[nodiscard]] inline FaultPlan arbitrary_weather() {
  FaultPlan faults;
  faults.metrics = *rc::gen::element<std::uint64_t>(0, 0, 1, 3);
  faults.intermediate = *rc::gen::element<std::uint64_t>(0, 20);
  faults.paces = *rc::gen::element<std::uint64_t>(0, 1, 5);
  faults.without_metric = *rc::gen::element<std::uint64_t>(0, 0, 10, 60, 100);
  faults.capacity_changes = *rc::gen::element<std::uint64_t>(0, 0, 10, 50);
  faults.limit_changes = *rc::gen::element<std::uint64_t>(0, 0, 0, 5, 20);
  faults.concurrency_changes = *rc::gen::element<std::uint64_t>(0, 0, 0, 10);
  faults.point_changes = *rc::gen::element<std::uint64_t>(0, 0, 0, 10);
  faults.duplicate_changes = *rc::gen::element<std::uint64_t>(0, 0, 0, 10);
  faults.late_closing = *rc::gen::element<std::uint64_t>(0, 50, 100);
  faults.cancel_waiting = *rc::gen::element<std::uint64_t>(0, 0, 10);
  faults.invalid_hp = *rc::gen::element<std::uint64_t>(0, 0, 10, 40);
  faults.errored = *rc::gen::element<std::uint64_t>(0, 0, 10, 40);
  faults.user_canceled = *rc::gen::element<std::uint64_t>(0, 0, 5);
  faults.user_stopped = *rc::gen::element<std::uint64_t>(0, 0, 5);
  return faults;
}

/// For the log of a failing case.
[[nodiscard]] inline std::string text_of(const engine::ExperimentConfig& config) {
  const engine::SearcherConfig& searcher = config.searcher;
  const auto n = [](std::uint64_t number) { return std::to_string(number); };
  std::string text = "hyperparameters " + engine::compact_json(config.hyperparameters);
  for (const std::string& condition : config.where) {
    text += ", where " + condition;
  }
  text += ", seed " + n(config.experiment_seed) + ", max_length " + n(engine::count(searcher.max_length)) +
          ", max_trials " + n(searcher.max_trials) + ", max_concurrent_trials " +
          n(searcher.max_concurrent_trials) + ", mode " + n(static_cast<std::uint64_t>(searcher.mode)) +
          ", divisor " + engine::python_float(searcher.divisor) + ", num_rungs " + n(searcher.num_rungs) +
          ", max_rungs " + n(searcher.max_rungs) + ", bracket_rungs [";
  for (const std::uint64_t rungs : searcher.bracket_rungs) {
    text += n(rungs) + ' ';
  }
  text += std::string("], stop_once ") + (searcher.stop_once ? "true" : "false") + ", smaller_is_better " +
          (searcher.smaller_is_better ? "true" : "false") + ", on_duplicate " +
          (searcher.on_duplicate == engine::OnDuplicate::reject ? "reject" : "allow") + ", points [";
  for (const engine::Value& point : searcher.points_to_evaluate) {
    text += engine::compact_json(point) + ' ';
  }
  return text + ']';
}

}  // namespace hpsearch::contract
