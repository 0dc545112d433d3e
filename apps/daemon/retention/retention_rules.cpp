#include "daemon/retention/retention_rules.hpp"

#include <algorithm>
#include <utility>

#include "hpsearch/engine/experiment/experiment_record.hpp"
#include "hpsearch/engine/experiment/experiment_state.hpp"
#include "hpsearch/engine/experiment/trial_record.hpp"

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

bool may_lose_reports(const engine::TrialRecord& trial, const RetentionRules& rules, engine::Instant now) {
  return rules.most_reports && trial.state == engine::TrialState::stopped && !trial.live &&
         !trial.curve_thinned && now - trial.ended_at >= rules.whole_curves_for;
}

CurveLoss curve_loss(std::span<const MetricPoint> reports, const std::set<engine::Units>& decisive,
                     std::uint64_t most) {
  const auto is_decisive = [&decisive](const MetricPoint& report) { return decisive.contains(report.step); };
  const auto decided = std::count_if(reports.begin(), reports.end(), is_decisive);
  const std::uint64_t others = reports.size() - static_cast<std::uint64_t>(decided);
  CurveLoss loss{.left = reports.size()};
  std::uint64_t other = 0;
  bool follows_a_removed_one = false;
  for (const MetricPoint& report : reports) {
    // The numbers k · others / most, for k from 0, are evenly spaced; `other` is one of them if the next
    // multiple of `others` from other · most on lies before (other + 1) · most.
    const bool stays = is_decisive(report) || others <= most ||
                       (other * most + others - 1) / others * others < (other + 1) * most;
    other += is_decisive(report) ? 0U : 1U;
    if (stays) {
      follows_a_removed_one = false;
      continue;
    }
    --loss.left;
    const std::uint64_t attempt = report.attempt.number();
    if (follows_a_removed_one && loss.removed[loss.removed.size() - 3] == attempt) {
      loss.removed.back() = report.seq;
    } else {
      loss.removed.insert(loss.removed.end(), {attempt, report.seq, report.seq});
    }
    follows_a_removed_one = true;
  }
  return loss;
}

}  // namespace hpsearch::daemon
