#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>

#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::engine {

/// What a tally says: "4: 7 reached, 3 final; …"
inline std::string told(const TrialTally& tally) {
  std::string text;
  for (const TrialTally::Rung& rung : tally.rungs()) {
    text += std::to_string(count(rung.length)) + ": " + std::to_string(rung.reached) + " reached, " +
            std::to_string(rung.final) + " final; ";
  }
  return text + std::to_string(static_cast<std::uint64_t>(tally.trained())) + " in all";
}

/// What it would have to say.
inline std::string told_by_looking_at_all(const ExperimentRecord& record) {
  std::set<Units> lengths;
  std::uint64_t trained = 0;
  for (const TrialRecord& trial : record.trials) {
    lengths.insert(trial.length);
    trained += count(trial.trained);
  }
  std::string text;
  for (auto length = lengths.begin(); length != lengths.end(); ++length) {
    std::uint64_t reached = 0;
    std::uint64_t final = 0;
    for (const TrialRecord& trial : record.trials) {
      const Units far = std::min(trial.length, trial.reached);
      reached += trial.reached >= *length ? 1U : 0U;
      const bool beyond = std::next(length) != lengths.end() && far >= *std::next(length);
      final += is_closed(trial.state) && far >= *length && !beyond ? 1U : 0U;
    }
    text += std::to_string(count(*length)) + ": " + std::to_string(reached) + " reached, " +
            std::to_string(final) + " final; ";
  }
  return text + std::to_string(trained) + " in all";
}

}  // namespace hpsearch::engine
