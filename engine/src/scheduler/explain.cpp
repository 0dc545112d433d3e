#include "hpsearch/engine/scheduler/explain.hpp"

#include <algorithm>
#include <cmath>

#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "scheduler/gang_plan.hpp"

namespace hpsearch::engine {
namespace {

std::string counted(std::uint64_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string amount(const ExperimentRecord& record, Units units) {
  return amount(units, record.config.unit);
}

/// It is to give its slots up in the middle of its training, and wants them back.
bool is_to_pause(const TrialRecord& trial) {
  return trial.state == TrialState::running && trial.live && trial.live->is_ending() &&
         trial.live->decision->directive == Directive::pause;
}

/// Some of what runs has to make way.
bool holds_more_than_it_may(const ExperimentRecord& record) {
  const std::uint64_t running = record.running.size();
  const std::uint64_t most = record.config.searcher.max_concurrent_trials;
  const ResourcesConfig& resources = record.config.resources;
  return record.state == ExperimentState::active &&
         ((most > 0 && running > most) ||
          (resources.max_slots && running * resources.slots_per_trial > *resources.max_slots));
}

void explain_running(const ExperimentRecord& record, const TrialRecord& trial,
                     const std::map<WorkerId, WorkerRecord>& workers, Explanation& out) {
  const LiveAttempt& live = *trial.live;
  const auto name_of_worker = [&workers](WorkerId id) {
    const auto worker = workers.find(id);
    return "\"" + (worker == workers.end() ? std::to_string(id.number()) : worker->second.name) + "\"";
  };
  std::string where = "worker " + name_of_worker(live.worker);
  if (live.gang) {
    where = "workers";
    for (std::size_t rank = 0; rank < live.gang->members.size(); ++rank) {
      const Gang::Member& member = live.gang->members[rank];
      where += (rank == 0 ? " " : ", ") + name_of_worker(member.worker) + (member.gone ? " (gone)" : "");
    }
  }
  out.now = "attempt " + std::to_string(live.key.attempt.number()) + " trains on " + where + ", " +
            amount(record, trial.reached) + " of " + amount(record, trial.length);
  if (live.is_ending()) {
    const Directive directive = live.decision->directive;
    out.next = (directive == Directive::kill ? "it is to be killed"
                                             : "it is to " + std::string(name_of(directive))) +
               (is_to_pause(trial) && holds_more_than_it_may(record)
                    ? ", since the experiment may hold fewer slots now,"
                    : "") +
               " and has not exited yet";
  } else {
    out.next = "when it reports " + record.config.searcher.metric + " at " + amount(record, trial.length) +
               ", its searcher decides";
  }
}

/// "resource pool \"big\" and label gpu=h200".
std::string wanted_text(const ResourcesConfig& wanted) {
  std::string text = "resource pool \"" + std::string(pool_named(wanted.resource_pool)) + "\"";
  for (const auto& [key, value] : wanted.labels) {
    text += " and label " + key + "=" + value;
  }
  return text;
}

/// Whether the question of the right workers arises at all.
bool is_choosy(const ResourcesConfig& wanted, const std::map<WorkerId, WorkerRecord>& workers) {
  return pool_named(wanted.resource_pool) != default_pool || !wanted.labels.empty() ||
         std::any_of(workers.begin(), workers.end(), [&wanted](const auto& entry) {
           return entry.second.present && !serves(entry.second, wanted);
         });
}

/// Why a trial that no worker there is could hold gets no slots. `there` says of which workers there is talk,
/// `largest` how many slots any of them has, used or not.
std::string lack_of_workers(const ExperimentRecord& record, const std::map<WorkerId, WorkerRecord>& workers,
                            const std::string& there, std::uint64_t largest) {
  const ResourcesConfig& wanted = record.config.resources;
  const std::string need =
      "a trial needs " + counted(wanted.slots_per_trial, "slot") + ", and no worker" + there +
      (largest < wanted.slots_per_trial ? " has more than " + std::to_string(largest)
                                        : " has so many that are not out of use (hpsearch workers says why)");
  if (!wanted.spans_workers) {
    return need + "; its slots lie on one worker (resources.spans_workers is false)";
  }
  const GangShape shape = gang_shape(workers, wanted);
  if (shape.workers == 0) {
    const std::string each = wanted.least_workers > 2 ? ", " + std::to_string(wanted.least_workers) +
                                                            " at least (resources.least_workers),"
                                                      : "";
    return need + "; there are no workers on which it can be spread in equal parts" + each +
           " and which can reach each other by the addresses they say (hpsearch-worker --address)";
  }
  const auto ready = std::count_if(workers.begin(), workers.end(), [&](const auto& entry) {
    return may_take_part(entry.second, wanted) && is_loopback(entry.second.address) == shape.on_one_machine &&
           entry.second.slots.find_free(shape.slots_each).has_value();
  });
  return need + "; it waits for " + std::to_string(shape.workers) + " workers with " +
         counted(shape.slots_each, "free slot") + " each at the same time, and " + std::to_string(ready) +
         (ready == 1 ? " has" : " have") +
         " them now; experiments behind it get no slots of those it will have";
}

/// "in 8 s", rounded up.
std::string in_seconds(Duration wait) {
  return "in " + std::to_string((wait.in_micros() + 999'999) / 1'000'000) + " s";
}

/// Why a trial is not tried again at once.
std::string delayed_text(const FailureHistory& failure_history,
                         const std::map<WorkerId, WorkerRecord>& workers, Instant now) {
  const auto worker = workers.find(failure_history.last_start_failure);
  return (failure_history.start_failures == 1
              ? "its last attempt was"
              : "its last " + std::to_string(failure_history.start_failures) + " attempts were") +
         std::string(" over before anything was heard of a program") +
         (worker == workers.end() ? "" : ", the last on worker \"" + worker->second.name + "\"") +
         (failure_history.why_false.empty() ? "" : ": " + failure_history.why_false) +
         "; it is tried again " + in_seconds(failure_history.not_before - now);
}

/// When the first of the workers that rest gets leases again; nothing when one of them does now.
std::optional<Instant> first_back(const std::map<WorkerId, WorkerRecord>& workers,
                                  const ResourcesConfig& wanted, Instant now) {
  std::optional<Instant> first;
  for (const auto& [id, worker] : workers) {
    if (!worker.present || !worker.quarantined.empty() || !serves(worker, wanted)) {
      continue;
    }
    if (worker.rests_until <= now) {
      return std::nullopt;
    }
    first = std::min(first.value_or(worker.rests_until), worker.rests_until);
  }
  return first;
}

/// How many trials of the experiment may run at once, and what says so.
struct ConcurrencyLimit {
  std::uint64_t trials = 0;
  std::string text;
};

ConcurrencyLimit concurrency_limit(const ExperimentRecord& record,
                                   const std::map<WorkerId, WorkerRecord>& workers) {
  const std::uint64_t given = record.config.searcher.max_concurrent_trials;
  if (given > 0) {
    return {given, "max_concurrent_trials is " + std::to_string(given)};
  }
  std::uint64_t slots = 0;
  for (const auto& [id, worker] : workers) {
    slots += worker.present && serves(worker, record.config.resources) ? worker.slots.total() : 0;
  }
  const std::uint64_t trials = concurrency_of(slots, record.config.resources);
  return {trials, "max_concurrent_trials is 0, which stands for " + std::to_string(trials) + " with the " +
                      counted(slots, "slot") + " of the workers it may have"};
}

/// Why a trial that is ready gets no slot.
std::string lack_of_slots(const ExperimentRecord& record, const std::map<WorkerId, WorkerRecord>& workers,
                          Instant now) {
  const ResourcesConfig& resources = record.config.resources;
  const std::uint64_t running = record.running.size();
  if (record.state == ExperimentState::paused) {
    return "the experiment is paused";
  }
  if (const ConcurrencyLimit limit = concurrency_limit(record, workers); running >= limit.trials) {
    return counted(running, "trial") + " of this experiment run, and " + limit.text;
  }
  if (resources.max_slots && (running + 1) * resources.slots_per_trial > *resources.max_slots) {
    return counted(running * resources.slots_per_trial, "slot") +
           " are in use by this experiment, and max_slots is " + std::to_string(*resources.max_slots);
  }
  if (const auto back = first_back(workers, resources, now)) {
    return "attempts were over before anything was heard of a program, on every worker (hpsearch workers "
           "says more); "
           "the next is tried " +
           in_seconds(*back - now);
  }
  std::uint64_t total = 0;
  std::uint64_t free = 0;
  std::uint64_t most = 0;
  std::uint64_t largest = 0;
  std::uint64_t quarantined = 0;
  std::uint64_t withdrawn = 0;
  const bool choosy = is_choosy(resources, workers);
  for (const auto& [id, worker] : workers) {
    if (!serves(worker, resources)) {
      continue;
    }
    if (worker.present && !worker.quarantined.empty()) {
      ++quarantined;
    } else if (worker.present) {
      total += worker.slots.total();
      free += worker.slots.free();
      most = std::max(most, worker.slots.free());
      largest = std::max(largest, worker.slots.total());
      withdrawn +=
          static_cast<std::uint64_t>(std::count_if(worker.withdrawn.begin(), worker.withdrawn.end(),
                                                   [](const auto& slot) { return !slot.second.released; }));
    }
  }
  const std::string there = choosy ? " of " + wanted_text(resources) : "";
  if (total == 0 && quarantined == 0 && choosy) {
    return "no worker" + there + " is connected (hpsearch workers shows what there is)";
  }
  if (total == 0) {
    return quarantined == 0
               ? "no worker is connected"
               : "every worker is in quarantine (hpsearch workers says why, hpsearch release ends it)";
  }
  const bool spread = record.config.resources.spans_workers && !fits_on_one(workers, resources);
  if (spread || largest < resources.slots_per_trial) {
    return lack_of_workers(record, workers, there, largest);
  }
  if (most < resources.slots_per_trial) {
    const std::string out_of_use =
        withdrawn == 0 ? "" : ", " + std::to_string(withdrawn) + " out of use (hpsearch workers says why)";
    return std::to_string(free) + " of " + counted(total, "slot") + there + " are free" + out_of_use +
           ", at most " + std::to_string(most) + " on one worker, and a trial needs " +
           std::to_string(resources.slots_per_trial);
  }
  const bool fits = std::any_of(workers.begin(), workers.end(), [&resources](const auto& entry) {
    const WorkerRecord& worker = entry.second;
    return worker.present && worker.quarantined.empty() && serves(worker, resources) &&
           worker.slots.find_free(resources.slots_per_trial).has_value();
  });
  if (!fits) {
    return std::to_string(free) + " of " + counted(total, "slot") + there + " are free, but a trial needs " +
           std::to_string(resources.slots_per_trial) + " on different devices of one worker";
  }
  return "the free slots go to experiments that come first (priority " + std::to_string(resources.priority) +
         ", weight " + short_number(resources.weight) + "), or their workers are silent or rest";
}

constexpr const char* ends_with_its_experiment = "it ends with its experiment, which is ending";

void explain_pending(const ExperimentRecord& record, const TrialRecord& trial,
                     const std::map<WorkerId, WorkerRecord>& workers, Instant now, Explanation& out) {
  out.now = "waits for " + counted(record.config.resources.slots_per_trial, "slot") + " to train from " +
            amount(record, trial.reached) + " to " + amount(record, trial.length);
  if (trial.live) {
    out.next = "its last attempt has not exited yet";
  } else if (record.state == ExperimentState::stopping) {
    out.next = ends_with_its_experiment;
  } else if (record.state != ExperimentState::paused && trial.failure_history &&
             trial.failure_history->not_before > now) {
    out.next = delayed_text(*trial.failure_history, workers, now);
  } else {
    out.next = lack_of_slots(record, workers, now);
  }
}

/// It is ready to go on and waits for its experiment alone.
bool awaits_resume(const TrialRecord& trial) {
  return trial.state == TrialState::paused && trial.awaits_resume;
}

/// Trials that take free slots as soon as there are some: those that wait for one, or will once the
/// experiment is resumed or they have exited.
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

/// Why a trial that its searcher would promote gets no slot.
std::string lack_of_promotion(const ExperimentRecord& record, const std::map<WorkerId, WorkerRecord>& workers,
                              Instant now) {
  const ConcurrencyLimit limit = concurrency_limit(record, workers);
  const std::uint64_t running = record.running.size();
  if (record.state == ExperimentState::active && limit.trials > running &&
      limit.trials <= running + record.delayed.size()) {
    return counted(record.delayed.size(), "trial") + " of this experiment " +
           (record.delayed.size() == 1 ? "is tried again later and keeps its place"
                                       : "are tried again later and keep their places") +
           ", and " + limit.text;
  }
  return lack_of_slots(record, workers, now);
}

/// Why no trial of the experiment gets any further, or "".
std::string standstill(const ExperimentRecord& record, const std::map<WorkerId, WorkerRecord>& workers,
                       Instant now) {
  return record.state == ExperimentState::paused ? "the experiment is paused"
                                                 : waits_for(record, workers, now);
}

/// When the rung would keep a trial that it does not keep yet.
std::string promotion_text(const Reason& standing, std::uint64_t needed, const Outlook& outlook) {
  const std::uint64_t to_come = outlook.results_to_come;
  const std::string kept = std::to_string(*standing.rank + 1);
  const std::string closing = ". It is stopped when no trial can come to the rung any more";
  if (needed <= to_come) {
    return "it is promoted when the rung keeps " + kept + ": after " + counted(needed, "more result") +
           " there if all rank behind it, later if some rank ahead; at most " + std::to_string(to_come) +
           " can still come" + closing + " and it is not among those kept";
  }
  return "it cannot be promoted as things stand: that takes a rung that keeps " + kept + ", with " +
         counted(needed, "more result") + ", and " +
         (to_come == 0 ? "none" : "at most " + std::to_string(to_come)) +
         " can still come. That changes if " +
         (outlook.exhausted ? "on_duplicate is set to allow, as no configuration is left,"
                            : "max_trials is raised") +
         " or trials before it drop out" + closing;
}

void explain_paused(const ExperimentRecord& record, TrialNumber number, const TrialRecord& trial,
                    const std::map<WorkerId, WorkerRecord>& workers, Instant now, Explanation& out) {
  if (awaits_resume(trial)) {
    out.now = "waits at " + amount(record, trial.reached) + " because the experiment is paused";
    out.next = record.state == ExperimentState::stopping ? ends_with_its_experiment
                                                         : "it goes on when the experiment is resumed";
    return;
  }
  out.reason = record.searcher->standing(number);
  out.now = "at " + amount(record, trial.reached) +
            (trial.reached == trial.length ? "" : " (its rung is at " + amount(record, trial.length) + ")") +
            ": " + describe(out.reason);
  if (!out.reason.rank || !out.reason.size) {
    return;
  }
  if (record.state == ExperimentState::stopping || out.reason.why == Reason::Why::rung_closed) {
    out.next = record.state == ExperimentState::stopping ? ends_with_its_experiment
                                                         : "it is stopped: nothing can promote it any more";
    return;
  }
  const Outlook outlook = record.searcher->outlook(number);
  out.results_to_come = outlook.results_to_come;
  if (outlook.ahead) {
    out.results_needed = 0;
    out.ahead = *outlook.ahead + waiting_for_slots(record);  // These are served before any promotion.
    out.next = "it is among the best " + std::to_string(out.reason.keep.value_or(0)) + " of " +
               std::to_string(*out.reason.size) + ": " +
               (*out.ahead == 0 ? "the next free slot of this experiment is its own, as things stand"
                                : "number " + std::to_string(*out.ahead + 1) +
                                      " in line for the free slots of this experiment, as things stand") +
               ". It gets none now: " + lack_of_promotion(record, workers, now);
    return;
  }
  out.results_needed = results_needed(*out.reason.rank, *out.reason.size, record.config.searcher.divisor);
  out.next = promotion_text(out.reason, *out.results_needed, outlook);
  if (const std::string why = standstill(record, workers, now); !why.empty()) {
    out.next += ". No result comes now: " + why;
  }
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

std::string waits_for(const ExperimentRecord& record, const std::map<WorkerId, WorkerRecord>& workers,
                      Instant now) {
  if (record.state != ExperimentState::active || !record.running.empty()) {
    return "";
  }
  if (!record.delayed.empty() && record.delayed.size() == record.pending.size()) {
    const TrialNumber first = *record.delayed.begin();
    const Box<FailureHistory>& failure_history = record.trials[first.number()].failure_history;
    if (failure_history && failure_history->not_before > now) {
      return "trial " + std::to_string(first.number()) + ": " + delayed_text(*failure_history, workers, now);
    }
  }
  return lack_of_slots(record, workers, now);
}

std::string rest_of(const WorkerRecord& worker, Instant now) {
  if (!worker.present || worker.rests_until <= now) {
    return "";
  }
  return std::to_string(worker.start_failures) +
         " attempts in a row were over there before anything was heard of a program; the next is leased " +
         in_seconds(worker.rests_until - now);
}

Reason reason_of(const TrialRecord& trial) {
  Reason reason = trial.reason;
  const bool goes_on = trial.state == TrialState::pending || trial.state == TrialState::running;
  if (goes_on && reason.why == Reason::Why::user) {
    reason.detail = "the experiment was resumed";
  }
  return reason;
}

Explanation explain(const ExperimentRecord& record, TrialNumber number,
                    const std::map<WorkerId, WorkerRecord>& workers, Instant now) {
  const TrialRecord& trial = record.trials[number.number()];
  Explanation out;
  out.reason = reason_of(trial);
  switch (trial.state) {
    case TrialState::running:
      explain_running(record, trial, workers, out);
      break;
    case TrialState::pending:
      explain_pending(record, trial, workers, now, out);
      break;
    case TrialState::paused:
      explain_paused(record, number, trial, workers, now, out);
      break;
    case TrialState::completed:
    case TrialState::stopped:
    case TrialState::failed:
    case TrialState::canceled:
      out.now = "has ended as " + std::string(name_of(trial.state)) + " at " + amount(record, trial.reached) +
                ": " + describe(out.reason);
      break;
  }
  return out;
}

}  // namespace hpsearch::engine
