#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "settings.hpp"

namespace hpsearch::searchers::test {

/// Rungs at 1, 3 and 9; a model's choices without exploration.
inline ExperimentConfig search_with(engine::SamplerName sampler) {
  ExperimentConfig config = settings("async_halving", 9, 40);
  config.searcher.num_rungs = 3;
  config.searcher.divisor = 3;
  config.searcher.sampler = sampler;
  config.searcher.model.explore = 0;
  return config;
}

/// Trials one after the other, each to its first rung; the best learning rate is 0.3.
inline std::vector<engine::CreateTrial> run_trials(engine::Searcher& searcher, std::size_t trials) {
  std::vector<engine::CreateTrial> created;
  while (created.size() < trials) {
    created.push_back(std::get<engine::CreateTrial>(searcher.next()));
    const engine::CreateTrial& create = created.back();
    const double distance = create.hparams.at_path("lr")->number_or(0) - 0.3;
    searcher.on_event(engine::TrialWasCreated{create.trial, create.hparams, create.length});
    searcher.on_event(engine::TrialValidated{create.trial, create.length, score(distance * distance)});
    searcher.on_event(engine::TrialWasClosed{create.trial});
  }
  return created;
}

}  // namespace hpsearch::searchers::test
