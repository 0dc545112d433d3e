#include <utility>

#include "config/sections.hpp"

namespace hpsearch::engine {

void read_retention(Section& section, CheckpointRetention& retention) {
  const std::pair<const char*, std::uint64_t*> counts[] = {
      {"save_experiment_best", &retention.save_experiment_best},
      {"save_trial_best", &retention.save_trial_best},
      {"save_trial_latest", &retention.save_trial_latest},
  };
  for (const auto& [key, place] : counts) {
    *place = section.integer(key, 0).value_or(*place);
  }
}

}  // namespace hpsearch::engine
