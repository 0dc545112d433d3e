#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>

#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::engine {

/// What a tally says: "4: 7 reached; 9: 2 reached; 4: 5 final; 9: 2 final; 46 in all"
inline std::string described(const TrialTally& tally) {
  std::string text;
  for (const TrialTally::Rung& rung : tally.rungs()) {
    text += std::to_string(count(rung.length)) + ": " + std::to_string(rung.reached) + " reached; ";
  }
  for (const TrialTally::Final& final : tally.finals()) {
    text += std::to_string(count(final.length)) + ": " + std::to_string(final.trials) + " final; ";
  }
  return text + std::to_string(static_cast<std::uint64_t>(tally.trained())) + " in all";
}

/// What it would have to say.
inline std::string described_by_looking_at_all(const ExperimentRecord& record) {
  std::map<Units, std::uint64_t> reached;
  std::map<Units, std::uint64_t> final;
  std::uint64_t trained = 0;
  for (const TrialRecord& trial : record.trials) {
    reached[trial.length] = 0;
    final[trial.length] = 0;
    if (trial.trains_no_further && std::min(trial.length, trial.reached) > Units{}) {
      final[std::min(trial.length, trial.reached)] = 0;
    }
    trained += count(trial.trained);
  }
  for (const TrialRecord& trial : record.trials) {
    for (auto& [length, trials] : reached) {
      trials += trial.reached >= length ? 1U : 0U;
    }
    const auto beyond = final.upper_bound(std::min(trial.length, trial.reached));
    if (is_closed(trial.state) && beyond != final.begin()) {
      ++std::prev(beyond)->second;
    }
  }
  std::string text;
  for (const auto& [length, trials] : reached) {
    text += std::to_string(count(length)) + ": " + std::to_string(trials) + " reached; ";
  }
  for (const auto& [length, trials] : final) {
    text += trials == 0 ? "" : std::to_string(count(length)) + ": " + std::to_string(trials) + " final; ";
  }
  return text + std::to_string(trained) + " in all";
}

}  // namespace hpsearch::engine
