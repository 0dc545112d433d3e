#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/scheduler/plan.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

std::uint64_t total_slots(const World& world) {
  std::uint64_t total = 0;
  for (const auto& [id, worker] : world.workers) {
    total += worker.present ? worker.slots.total() : 0;
  }
  return total;
}

/// How many trials of it may run at once, exactly.
std::uint64_t concurrency_limit(const World& world, const ExperimentConfig& config) {
  if (config.searcher.max_concurrent_trials > 0) {
    return config.searcher.max_concurrent_trials;
  }
  return std::max<std::uint64_t>(1, total_slots(world) / std::max<std::uint64_t>(1, config.resources.slots_per_trial));
}

std::uint64_t slots_in_use(const ExperimentRecord& record) {
  return record.running.size() * record.config.resources.slots_per_trial;
}

bool may_run_more(const World& world, const ExperimentRecord& record) {
  const ResourcesConfig& resources = record.config.resources;
  return record.state == ExperimentState::active &&
         record.running.size() < concurrency_limit(world, record.config) &&
         (!resources.max_slots || slots_in_use(record) + resources.slots_per_trial <= *resources.max_slots);
}

/// The oldest trial that waits for a slot and whose last attempt is really over.
std::optional<TrialNumber> first_ready(const ExperimentRecord& record) {
  for (const TrialNumber number : record.pending) {
    if (!record.trials[number.number()].live) {
      return number;
    }
  }
  return std::nullopt;
}

void lease(Step& step, const ExperimentRecord& record, TrialNumber number, const Placement& place) {
  const TrialRecord& trial = record.trials[number.number()];
  step.happened(LeaseGranted{record.id, number, AttemptNumber(trial.attempts.number() + 1), place.worker, place.slots,
                             trial.length});
}

void create(Step& step, const ExperimentRecord& record, CreateTrial next, const Placement& place) {
  HPSEARCH_CHECK(next.trial.number() == record.trials.size(), "searchers number trials without gaps");
  const TrialNumber number = next.trial;
  step.happened(TrialCreated{record.id, next.trial, TrialId(step.world().last_trial_id + 1), std::move(next.hparams),
                             next.length, std::move(next.reason)});
  lease(step, record, number, place);
}

void promote(Step& step, const ExperimentRecord& record, PromoteTrial next, const Placement& place) {
  const TrialNumber number = next.trial;
  step.happened(TrialPromoted{record.id, number, next.length, false, std::move(next.reason)});
  reach_lengths(step, record.id, number);  // A program that reported sparsely may be there already.
  const TrialRecord& trial = record.trials[number.number()];
  if (trial.state == TrialState::pending && !trial.live) {
    lease(step, record, number, place);
  }
}

/// Gives one free slot to the experiment. False when it cannot use one now.
bool fill_one(Step& step, const ExperimentRecord& record) {
  const World& world = step.world();
  if (!may_run_more(world, record)) {
    return false;
  }
  const std::optional<Placement> place =
      find_place(world.workers, world.suspects, record.config.resources.slots_per_trial);
  if (!place) {
    return false;
  }
  if (const std::optional<TrialNumber> waiting = first_ready(record)) {
    lease(step, record, *waiting, *place);
    return true;
  }
  Next next = record.searcher->next();
  if (auto* wanted = std::get_if<CreateTrial>(&next)) {
    create(step, record, std::move(*wanted), *place);
    return true;
  }
  if (auto* wanted = std::get_if<PromoteTrial>(&next)) {
    promote(step, record, std::move(*wanted), *place);
    return true;
  }
  return false;
}

void close_what_can_be(Step& step, const ExperimentRecord& record) {
  const auto named = record.searcher->closable();
  const std::vector<TrialNumber> closable(named.begin(), named.end());
  for (const TrialNumber number : closable) {
    const TrialRecord& trial = record.trials[number.number()];
    if (is_closed(trial.state)) {
      continue;
    }
    const bool full = trial.length >= record.config.searcher.max_length;
    step.happened(TrialEnded{record.id, number, full ? TrialState::completed : TrialState::stopped,
                             record.searcher->standing(number)});
  }
}

bool every_trial_failed(const ExperimentRecord& record) {
  return !record.trials.empty() &&
         record.by_state[static_cast<std::size_t>(TrialState::failed)] == record.trials.size();
}

/// Ends the experiment if nothing of it runs and nothing more is wanted.
void end_if_over(Step& step, const ExperimentRecord& record) {
  if (!record.running.empty()) {
    return;
  }
  if (record.state == ExperimentState::stopping) {
    step.happened(ExperimentEnded{record.id, record.stopping_as, record.reason});
    return;
  }
  if (!record.pending.empty() || record.state != ExperimentState::active) {
    return;
  }
  const Next next = record.searcher->next();
  const auto* finished = std::get_if<Finished>(&next);
  if (finished == nullptr) {
    return;
  }
  if (finished->problem) {
    stop_experiment(step, record.id, ExperimentState::failed, false, *finished->problem);
    step.happened(ExperimentEnded{record.id, ExperimentState::failed, *finished->problem});
  } else if (every_trial_failed(record)) {
    const TrialRecord& last = record.trials.back();
    const std::string cause = last.reason.detail.empty() ? last.last_failure : last.reason.detail;
    step.happened(ExperimentEnded{record.id, ExperimentState::failed, "every trial failed; the last: " + cause});
  } else {
    step.happened(ExperimentEnded{record.id, ExperimentState::completed, finished->note});
  }
}

std::vector<Claim> claims_in_order(const World& world) {
  std::vector<Claim> claims;
  for (const ExperimentId id : world.going) {
    const ExperimentRecord& record = world.experiments.at(id);
    if (record.state == ExperimentState::active) {
      const ResourcesConfig& resources = record.config.resources;
      claims.push_back(Claim{id, resources.priority, resources.weight, slots_in_use(record)});
    }
  }
  std::sort(claims.begin(), claims.end(), goes_first);
  return claims;
}

/// Gives one free slot, to the first in line that can use it.
bool fill_one_slot(Step& step) {
  for (const Claim& claim : claims_in_order(step.world())) {
    if (fill_one(step, step.world().experiments.at(claim.experiment))) {
      return true;
    }
  }
  return false;
}

}  // namespace

void settle(Step& step) {
  const auto close_and_end = [&] {
    const std::vector<ExperimentId> going(step.world().going.begin(), step.world().going.end());
    for (const ExperimentId id : going) {
      const ExperimentRecord& record = step.world().experiments.at(id);
      close_what_can_be(step, record);
      end_if_over(step, record);
    }
  };
  close_and_end();
  while (fill_one_slot(step)) {
  }
  close_and_end();
}

}  // namespace hpsearch::engine
