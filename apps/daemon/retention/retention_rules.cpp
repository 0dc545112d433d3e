#include "daemon/retention/retention_rules.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "hpsearch/engine/experiment/experiment_record.hpp"
#include "hpsearch/engine/experiment/experiment_state.hpp"

namespace hpsearch::daemon {

std::vector<engine::ExperimentId> experiments_to_remove(const engine::Engine& engine,
                                                        const RetentionRules& rules, engine::Instant now,
                                                        std::size_t most) {
  std::vector<engine::ExperimentId> removed;
  if (rules.ended_experiments <= engine::Duration{}) {
    return removed;
  }
  std::vector<std::pair<engine::Instant, engine::ExperimentId>> due;
  std::set<engine::ExperimentId> sources;
  for (const auto& [id, record] : engine.experiments()) {
    if (!engine::is_ended(record.state)) {
      if (record.source) {
        sources.insert(record.source->experiment);
      }
    } else if (!record.annotation.starred && now - record.ended_at >= rules.ended_experiments) {
      due.emplace_back(record.ended_at, id);
    }
  }
  std::sort(due.begin(), due.end());
  for (const auto& [ended_at, id] : due) {
    if (removed.size() < most && !sources.contains(id)) {
      removed.push_back(id);
    }
  }
  return removed;
}

}  // namespace hpsearch::daemon
