#include "hpsearch/engine/scheduler/explain.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "experiment/trials/first_failures.hpp"
#include "scheduler/gang_plan.hpp"
#include "scheduler/time_needed.hpp"

namespace hpsearch::engine {
namespace {

using Workers = std::map<WorkerId, WorkerRecord>;

std::string name_of_worker(const Workers& workers, WorkerId id) {
  const auto worker = workers.find(id);
  return worker == workers.end() ? std::to_string(id.number()) : worker->second.name;
}

/// Its attempt must end before its length; the trial continues later.
bool is_to_pause(const TrialRecord& trial) {
  return trial.state == TrialState::running && trial.live && trial.live->is_ending() &&
         trial.live->decision->directive == Directive::pause;
}

/// Some of its trials must pause.
bool holds_more_than_it_may(const ExperimentRecord& record) {
  const std::uint64_t running = record.running.size();
  const std::uint64_t most = record.config.searcher.max_concurrent_trials;
  const ResourcesConfig& resources = record.config.resources;
  return record.state == ExperimentState::active &&
         ((most > 0 && running > most) ||
          (resources.max_slots && running * resources.slots_per_trial > *resources.max_slots));
}

void explain_running(const ExperimentRecord& record, const TrialRecord& trial, const Workers& workers,
                     Explanation& out) {
  const LiveAttempt& live = *trial.live;
  const bool has_failed_so_far = !live.reported && trial.failure_history.has_value();
  NowTrains trains{live.key.attempt,
                   {},
                   trial.reached,
                   trial.length,
                   has_failed_so_far ? trial.failure_history->fruitless : 0};
  if (live.gang) {
    for (const Gang::Member& member : live.gang->members) {
      trains.places.push_back({name_of_worker(workers, member.worker), member.gone});
    }
  } else {
    trains.places.push_back({name_of_worker(workers, live.worker), false});
  }
  out.now = std::move(trains);
  if (live.is_ending()) {
    out.next = NextExit{live.decision->directive, is_to_pause(trial) && holds_more_than_it_may(record)};
  } else {
    out.next = NextDecision{record.config.searcher.metric, trial.length};
  }
}

/// Not every connected worker may run its trials.
bool is_choosy(const ResourcesConfig& wanted, const Workers& workers) {
  return pool_named(wanted.resource_pool) != default_pool || !wanted.labels.empty() ||
         std::any_of(workers.begin(), workers.end(), [&wanted](const auto& entry) {
           return entry.second.present && !is_external(entry.second) && !serves(entry.second, wanted);
         });
}

std::optional<WantedWorkers> wanted_workers(const ResourcesConfig& wanted, const Workers& workers) {
  return is_choosy(wanted, workers) ? std::optional<WantedWorkers>(WantedWorkers{
                                          std::string(pool_named(wanted.resource_pool)), wanted.labels})
                                    : std::nullopt;
}

/// Why a trial waits that no present worker could hold.
Wait wait_for_workers(const ResourcesConfig& wanted, const Workers& workers, TooLargeForOneWorker trial) {
  if (!wanted.spans_workers) {
    return WaitForLargerWorker{std::move(trial)};
  }
  const GangShape shape = gang_shape(workers, wanted);
  if (shape.workers == 0) {
    return WaitForReachableWorkers{std::move(trial), wanted.least_workers};
  }
  const auto ready = std::count_if(workers.begin(), workers.end(), [&](const auto& entry) {
    return may_take_part(entry.second, wanted) && is_loopback(entry.second.address) == shape.on_one_machine &&
           entry.second.slots.find_free(shape.slots_each).has_value();
  });
  return WaitForGang{std::move(trial), shape.workers, shape.slots_each, static_cast<std::uint64_t>(ready)};
}

WaitForRetry wait_for_retry(TrialNumber trial, const FailureHistory& failures, const Workers& workers,
                            Instant now) {
  const auto worker = workers.find(failures.last_culprit);
  return {trial, failures.fruitless, worker == workers.end() ? "" : worker->second.name, failures.last_why,
          failures.not_before - now};
}

/// When the first of the resting workers gets leases again; nothing if one gets some now.
std::optional<Instant> first_back(const Workers& workers, const ResourcesConfig& wanted, Instant now) {
  std::optional<Instant> first;
  for (const auto& [id, worker] : workers) {
    if (!is_in_service(worker) || !serves(worker, wanted)) {
      continue;
    }
    if (worker.rests_until <= now) {
      return std::nullopt;
    }
    first = std::min(first.value_or(worker.rests_until), worker.rests_until);
  }
  return first;
}

ConcurrencyLimit concurrency_limit(const ExperimentRecord& record, const Workers& workers) {
  const std::uint64_t given = record.config.searcher.max_concurrent_trials;
  if (given > 0) {
    return {given, std::nullopt};
  }
  std::uint64_t slots = 0;
  for (const auto& [id, worker] : workers) {
    slots += worker.present && serves(worker, record.config.resources) ? worker.slots.total() : 0;
  }
  return {concurrency_of(slots, record.config.resources), slots};
}

/// The slots of the workers that an experiment may use.
struct SlotSum {
  std::uint64_t total = 0;  ///< Slots of all workers that may get leases.
  std::uint64_t free = 0;
  std::uint64_t most_free = 0;  ///< On one worker.
  std::uint64_t largest = 0;    ///< All slots of one worker.
  std::uint64_t withdrawn = 0;
  std::vector<TakenSlots> taken;
  std::uint64_t quarantined = 0;     ///< Workers.
  std::uint64_t draining = 0;        ///< Workers that are not in quarantine.
  std::uint64_t usable = 0;          ///< Workers that may get leases.
  std::uint64_t unslotted = 0;       ///< Trials without slots on those.
  std::uint64_t most_unslotted = 0;  ///< The most that one of those workers takes, if all have a bound.
  bool takes_unslotted = false;      ///< One of them takes one more trial without slots.
};

SlotSum sum_of_slots(const Workers& workers, const ResourcesConfig& wanted) {
  SlotSum sum;
  for (const auto& [id, worker] : workers) {
    if (!worker.present || !serves(worker, wanted)) {
      continue;
    }
    if (!is_in_service(worker)) {
      ++(worker.quarantined.empty() ? sum.draining : sum.quarantined);
      continue;
    }
    ++sum.usable;
    sum.unslotted += worker.unslotted;
    sum.most_unslotted += worker.max_unslotted.value_or(0);
    sum.takes_unslotted = sum.takes_unslotted || takes_unslotted(worker);
    sum.total += worker.slots.total();
    sum.free += worker.slots.free();
    sum.most_free = std::max(sum.most_free, worker.slots.free());
    sum.largest = std::max(sum.largest, worker.slots.total());
    sum.withdrawn +=
        static_cast<std::uint64_t>(std::count_if(worker.withdrawn.begin(), worker.withdrawn.end(),
                                                 [](const auto& slot) { return !slot.second.released; }));
    for (const auto& [slot, why] : worker.taken) {
      if (!worker.slots.is_free(slot)) {
        continue;  // One of its own trials has it still.
      }
      const auto known = std::find_if(sum.taken.begin(), sum.taken.end(),
                                      [&why = why](const TakenSlots& taken) { return taken.why == why; });
      if (known == sum.taken.end()) {
        sum.taken.push_back({1, why});
      } else {
        ++known->slots;
      }
    }
  }
  return sum;
}

bool has_room(const WorkerRecord& worker, const ResourcesConfig& wanted) {
  return is_in_service(worker) && serves(worker, wanted) &&
         (wanted.slots_per_trial == 0 ? takes_unslotted(worker)
                                      : worker.slots.find_free(wanted.slots_per_trial).has_value());
}

/// Nothing: some worker with room lasts long enough.
std::optional<WaitForTime> wait_for_time(const ExperimentRecord& record, const Workers& workers, Units units,
                                         Instant now) {
  const TimeNeeded needed = TimeEstimate(record).needed_for(units);
  const WorkerRecord* longest = nullptr;
  for (const auto& [id, worker] : workers) {
    if (!has_room(worker, record.config.resources)) {
      continue;
    }
    if (lasts(worker, needed, now)) {
      return std::nullopt;
    }
    if (longest == nullptr || worker.end->gives_back_at > longest->end->gives_back_at) {
      longest = &worker;
    }
  }
  if (longest == nullptr) {
    return std::nullopt;
  }
  return WaitForTime{time_on(*longest, needed), needed.attempts, longest->name,
                     std::max(longest->end->gives_back_at - now, Duration{})};
}

/// Why a trial waits that is ready and has to train `units`; nothing: the least of those that wait.
Wait wait_for_slots(const ExperimentRecord& record, const Workers& workers, Instant now,
                    std::optional<Units> units = std::nullopt) {
  const ResourcesConfig& resources = record.config.resources;
  const std::uint64_t need = resources.slots_per_trial;
  const std::uint64_t running = record.running.size();
  if (record.state == ExperimentState::paused) {
    return WaitForResume{};
  }
  if (const ConcurrencyLimit limit = concurrency_limit(record, workers); running >= limit.trials) {
    return WaitForConcurrency{running, 0, limit};
  }
  if (holds_back(record, now)) {
    const FirstFailures& first = record.first_failures;
    const bool looks = takes_first_look(record, now);
    const bool by_time = looks && (first.reported || first.alike.empty());
    return WaitForFirstReport{first.alike.size(), running, first.alike.empty() ? "" : first.why,
                              by_time ? first.first_start + first_look - now : Duration{},
                              most_first_trials(record, looks)};
  }
  if (resources.max_slots && (running + 1) * need > *resources.max_slots) {
    return WaitForMaxSlots{running * need, need, *resources.max_slots};
  }
  if (const auto spent =
          record.workspace == nullptr ? std::nullopt : slot_hours_reached(*record.workspace, need, now)) {
    return WaitForSlotHours{record.workspace->name, spent->used, spent->most,
                            spent->until ? *spent->until - now : Duration{}};
  }
  if (const auto reached = record.workspace == nullptr
                               ? std::nullopt
                               : slot_quota_reached(*record.workspace, record.owner, need)) {
    return WaitForQuota{record.workspace->name, record.owner,     reached->used, need,
                        reached->most,          reached->per_user};
  }
  if (resources.external) {
    return WaitForClient{};
  }
  if (const auto back = first_back(workers, resources, now)) {
    return WaitForRestingWorkers{*back - now};
  }
  SlotSum sum = sum_of_slots(workers, resources);
  std::optional<WantedWorkers> wanted = wanted_workers(resources, workers);
  if (need == 0 ? sum.usable == 0 : sum.total == 0) {
    return sum.quarantined + sum.draining == 0
               ? Wait(WaitForWorker{std::move(wanted)})
               : Wait(WaitForRelease{std::move(wanted), sum.quarantined, sum.draining});
  }
  if (need == 0 && !sum.takes_unslotted) {
    return WaitForRoomWithoutSlots{sum.unslotted, sum.most_unslotted, std::move(wanted)};
  }
  if (sum.largest < need || (resources.spans_workers && !fits_on_one(workers, resources))) {
    return wait_for_workers(resources, workers, {need, sum.largest, std::move(wanted)});
  }
  if (sum.most_free < need) {
    return WaitForFreeSlots{sum.free, sum.total,         sum.withdrawn,       sum.most_free,
                            need,     std::move(wanted), std::move(sum.taken)};
  }
  const bool fits = std::any_of(workers.begin(), workers.end(), [&resources](const auto& entry) {
    return has_room(entry.second, resources);
  });
  if (!fits) {
    return WaitForDevices{sum.free, sum.total, need, std::move(wanted)};
  }
  const Units to_train = units ? *units : least_units_left(record).value_or(Units{});
  if (auto time = wait_for_time(record, workers, to_train, now)) {
    return *std::move(time);
  }
  return WaitForTurn{resources.priority, resources.weight};
}

void explain_pending(const ExperimentRecord& record, TrialNumber number, const TrialRecord& trial,
                     const Workers& workers, Instant now, Explanation& out) {
  out.now = NowNeedsSlots{record.config.resources.slots_per_trial, trial.reached, trial.length};
  if (trial.live) {
    out.next = NextExitOfLast{};
  } else if (record.state == ExperimentState::stopping) {
    out.next = NextEndOfExperiment{};
  } else if (record.state != ExperimentState::paused && trial.failure_history &&
             trial.failure_history->not_before > now) {
    out.next = NextSlots{wait_for_retry(number, *trial.failure_history, workers, now)};
  } else {
    out.next = NextSlots{wait_for_slots(record, workers, now, units_left(trial, trial.length))};
  }
}

/// It is ready to continue and waits only for its experiment.
bool awaits_resume(const TrialRecord& trial) {
  return trial.state == TrialState::paused && trial.awaits_resume;
}

/// Trials that take free slots before any promotion: those that wait for one, or will when the experiment is
/// resumed or they have exited.
std::uint64_t waiting_for_slots(const ExperimentRecord& record) {
  const auto waiting =
      std::count_if(record.pending.begin(), record.pending.end(),
                    [&record](TrialNumber number) { return !record.delayed.contains(number); });
  std::uint64_t before = static_cast<std::uint64_t>(waiting);
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    before += awaits_resume(record.trials[i]) || is_to_pause(record.trials[i]) ? 1U : 0U;
  }
  return before;
}

/// Why a trial waits that its searcher would promote.
Wait wait_for_promotion(const ExperimentRecord& record, const Workers& workers, Instant now) {
  const ConcurrencyLimit limit = concurrency_limit(record, workers);
  const std::uint64_t running = record.running.size();
  if (record.state == ExperimentState::active && limit.trials > running &&
      limit.trials <= running + record.delayed.size()) {
    return WaitForConcurrency{running, record.delayed.size(), limit};
  }
  return wait_for_slots(record, workers, now);
}

/// Why no trial of the experiment gets any further; nothing if one does.
std::optional<Wait> standstill(const ExperimentRecord& record, const Workers& workers, Instant now) {
  return record.state == ExperimentState::paused ? WaitForResume{} : waits_for(record, workers, now);
}

void explain_paused(const ExperimentRecord& record, TrialNumber number, const TrialRecord& trial,
                    const Workers& workers, Instant now, Explanation& out) {
  const bool ends = record.state == ExperimentState::stopping;
  if (awaits_resume(trial)) {
    out.now = NowAwaitsResume{trial.reached};
    out.next = ends ? TrialNext(NextEndOfExperiment{}) : TrialNext(NextResume{});
    return;
  }
  out.reason = record.searcher->standing(number);
  out.now = NowAtRung{trial.reached, trial.length};
  if (!out.reason.rank || !out.reason.size) {
    return;
  }
  if (ends) {
    out.next = NextEndOfExperiment{};
    return;
  }
  if (out.reason.why == Reason::Why::rung_closed) {
    out.next = NextStop{};
    return;
  }
  const Outlook outlook = record.searcher->outlook(number);
  out.results_to_come = outlook.results_to_come;
  if (outlook.ahead) {
    out.results_needed = 0;
    out.ahead = *outlook.ahead + waiting_for_slots(record);  // These are served before any promotion.
    out.next = NextPromotion{wait_for_promotion(record, workers, now)};
    return;
  }
  out.results_needed = results_needed(*out.reason.rank, *out.reason.size, record.config.searcher.divisor);
  out.next = NextResults{outlook.exhausted, standstill(record, workers, now)};
}

}  // namespace

std::uint64_t results_needed(std::uint64_t rank, std::uint64_t size, double divisor) noexcept {
  const double about = std::floor(static_cast<double>(rank + 1) * divisor);
  if (about >= 0x1p62) {  // More than anybody counts; and adding one would change nothing.
    return std::uint64_t{1} << 62U;
  }
  // From just below the real-number answer upwards: its rounding may be off by one either way.
  auto enough = static_cast<std::uint64_t>(about);
  enough -= enough > 0 ? 1 : 0;
  const auto keeps = [divisor](std::uint64_t results) {
    return static_cast<std::uint64_t>(std::floor(static_cast<double>(results) / divisor));
  };
  while (keeps(enough) <= rank) {
    ++enough;
  }
  return enough > size ? enough - size : 0;
}

std::optional<Wait> waits_for(const ExperimentRecord& record, const Workers& workers, Instant now) {
  if (record.state != ExperimentState::active || !record.running.empty()) {
    return std::nullopt;
  }
  if (!record.delayed.empty() && record.delayed.size() == record.pending.size()) {
    const TrialNumber first = *record.delayed.begin();
    const Box<FailureHistory>& failures = record.trials[first.number()].failure_history;
    if (failures && failures->not_before > now) {
      return wait_for_retry(first, *failures, workers, now);
    }
  }
  return wait_for_slots(record, workers, now);
}

std::optional<WorkerRest> rest_of(const WorkerRecord& worker, Instant now) {
  if (!worker.present || worker.rests_until <= now || !worker.quarantined.empty()) {
    return std::nullopt;
  }
  return WorkerRest{worker.start_failures, worker.rests_until - now};
}

Reason reason_of(const TrialRecord& trial) {
  Reason reason = trial.reason;
  const bool goes_on = trial.state == TrialState::pending || trial.state == TrialState::running;
  const bool was_paused = reason.why == Reason::Why::paused_itself ||
                          (reason.why == Reason::Why::user && reason.detail != retried_by_user);
  if (goes_on && was_paused) {
    reason.why = Reason::Why::user;
    reason.detail = "the experiment was resumed";
  }
  return reason;
}

Explanation explain(const ExperimentRecord& record, TrialNumber number, const Workers& workers, Instant now) {
  const TrialRecord& trial = record.trials[number.number()];
  Explanation out;
  out.reason = reason_of(trial);
  switch (trial.state) {
    case TrialState::running:
      explain_running(record, trial, workers, out);
      break;
    case TrialState::pending:
      explain_pending(record, number, trial, workers, now, out);
      break;
    case TrialState::paused:
      explain_paused(record, number, trial, workers, now, out);
      break;
    case TrialState::completed:
    case TrialState::stopped:
    case TrialState::failed:
    case TrialState::canceled:
      out.now = NowEnded{trial.state, trial.reached};
      break;
  }
  return out;
}

}  // namespace hpsearch::engine
