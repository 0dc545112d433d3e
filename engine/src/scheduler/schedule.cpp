#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiment/budget.hpp"
#include "experiment/trials/first_failures.hpp"
#include "hpsearch/engine/base/amount.hpp"
#include "scheduler/gang_plan.hpp"
#include "scheduler/time_needed.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

/// In one step: some milliseconds.
constexpr std::uint64_t most_leases = 512;

/// Slots of the workers that may run trials with these resources, used or not. With labels O(workers).
std::uint64_t slots_for(const EngineState& state, const ResourcesConfig& wanted) {
  std::uint64_t slots = 0;
  if (!wanted.labels.empty()) {
    for (const auto& [id, worker] : state.workers) {
      slots += worker.present && serves(worker, wanted) ? worker.slots.total() : 0;
    }
    return slots;
  }
  for (const auto& [pool, present] : state.present_slots) {
    slots += pool_named(pool) == pool_named(wanted.resource_pool) ? present : 0;
  }
  return slots;
}

/// How many trials of it may run at once, exactly.
std::uint64_t concurrency_limit(const EngineState& state, const ExperimentConfig& config) {
  if (config.searcher.max_concurrent_trials > 0) {
    return config.searcher.max_concurrent_trials;
  }
  return concurrency_of(slots_for(state, config.resources), config.resources);
}

std::uint64_t slots_in_use(const ExperimentRecord& record) {
  return record.running.size() * record.config.resources.slots_per_trial;
}

/// It keeps its place while it is put off: not for long if other trials of the experiment get on, for then it
/// is its own doing, and the slot would be idle.
bool keeps_place(const ExperimentRecord& record, TrialNumber number) {
  constexpr std::uint64_t short_wait_times = 6;  // Up to 16 s each time, half a minute in all.
  const Box<FailureHistory>& history = record.trials[number.number()].failure_history;
  return !record.first_failures.reported || !history || history->fruitless <= short_wait_times;
}

/// Trials of it that are put off keep their places: a new one in place of each would only share their fate,
/// and so would the next, until all that it may ever try have begun.
bool keep_places(const EngineState& state, const ExperimentRecord& record) {
  if (record.delayed.empty()) {
    return false;
  }
  const auto kept = std::count_if(record.delayed.begin(), record.delayed.end(),
                                  [&record](TrialNumber number) { return keeps_place(record, number); });
  return kept > 0 &&
         record.running.size() + static_cast<std::uint64_t>(kept) >= concurrency_limit(state, record.config);
}

/// Its last attempt failed on this worker without a single report, or was over there as soon as it was
/// leased, and others might tell whose fault that is.
bool should_avoid(const EngineState& state, const ExperimentRecord& record, const TrialRecord& trial,
                  WorkerId worker) {
  if (state.trusts_workers || worker == WorkerId{} || !trial.failure_history ||
      is_external(state.workers.at(worker))) {
    return false;
  }
  const FailureHistory& history = *trial.failure_history;
  const bool failed_there = (history.crashes > 0 && history.crashed_on == worker) ||
                            (history.fruitless > 0 && history.last_culprit == worker);
  return failed_there && others_serve(state, record.config.resources, worker);
}

/// Whether workers last long enough for trials of an experiment. What few steps ask for is computed then.
class TimeCheck {
 public:
  TimeCheck(const ExperimentRecord& record, Instant now) : record_(record), now_(now) {}

  [[nodiscard]] bool lasts_for(const WorkerRecord& worker, Units units) {
    return !worker.end || lasts(worker, estimate().needed_for(units), now_);
  }
  [[nodiscard]] bool lasts_for(const WorkerRecord& worker, const TrialRecord& trial, Units length) {
    return !worker.end || lasts_for(worker, units_left(trial, length));
  }
  /// For some trial of it.
  [[nodiscard]] bool lasts_for_any(const WorkerRecord& worker) {
    if (!worker.end) {
      return true;
    }
    if (!least_is_known_) {
      least_ = least_units_left(record_);
      least_is_known_ = true;
    }
    return !least_ || lasts_for(worker, *least_);
  }

 private:
  const TimeEstimate& estimate() { return estimate_ ? *estimate_ : estimate_.emplace(record_); }

  const ExperimentRecord& record_;
  Instant now_;
  std::optional<TimeEstimate> estimate_;
  std::optional<Units> least_;
  bool least_is_known_ = false;
};

/// Trials that wait for a slot and whose last attempts are really over.
struct Ready {
  std::optional<TrialNumber> first;        ///< The oldest that may run there.
  std::optional<TrialNumber> last_resort;  ///< The oldest that should rather run elsewhere, or after others.
  std::size_t too_long = 0;                ///< So many need longer than the worker lasts.
};

Ready find_ready(const EngineState& state, const ExperimentRecord& record, WorkerId worker, TimeCheck& time) {
  Ready ready;
  const auto place = state.workers.find(worker);
  for (const TrialNumber number : record.pending) {
    const TrialRecord& trial = record.trials[number.number()];
    if (trial.live || record.delayed.contains(number)) {
      continue;
    }
    if (place != state.workers.end() && !time.lasts_for(place->second, trial, trial.length)) {
      if (++ready.too_long == most_looked_at) {
        break;
      }
      continue;
    }
    if (!should_avoid(state, record, trial, worker) && !lets_others_try(record, number)) {
      ready.first = number;
      break;
    }
    if (!ready.last_resort) {
      ready.last_resort = number;
    }
  }
  return ready;
}

struct Placement {
  WorkerId worker;  ///< The worker of rank 0.
  std::vector<SlotIndex> slots;
  std::vector<Place> others{};  ///< The places of the ranks after it.
};

/// Those of all attempts on several workers. O(trials that run of experiments with such).
std::set<std::uint64_t> ports_in_use(const EngineState& state) {
  std::set<std::uint64_t> ports;
  for (const ExperimentId id : state.going) {
    const ExperimentRecord& record = state.experiments.at(id);
    if (!record.config.resources.spans_workers) {
      continue;
    }
    for (const TrialNumber number : record.running) {
      if (const auto& live = record.trials[number.number()].live; live && live->gang) {
        ports.insert(live->gang->port);
      }
    }
  }
  return ports;
}

/// Where the processes of an attempt on several workers meet. Below the ports that systems give out by
/// themselves, and different for attempts that run at the same time, so that two of them may share a machine;
/// another one at the next try, should somebody else have this one.
std::uint64_t meeting_port(const EngineState& state, Lsn lease) {
  constexpr std::uint64_t first = 23'456;  // Where launchers listen by custom.
  constexpr std::uint64_t ports = 4'000;
  const std::set<std::uint64_t> taken = ports_in_use(state);
  std::uint64_t offset = lease.number() % ports;
  for (std::uint64_t tries = 0; tries < ports && taken.contains(first + offset); ++tries) {
    offset = (offset + 1) % ports;
  }
  return first + offset;
}

void lease(Step& step, const ExperimentRecord& record, TrialNumber number, const Placement& place) {
  const TrialRecord& trial = record.trials[number.number()];
  const Lsn lease(step.state().last_lsn.number() + 1);
  LeaseGranted granted{record.id,
                       number,
                       AttemptNumber(trial.attempts + std::uint64_t{1}),
                       place.worker,
                       place.slots,
                       trial.length,
                       place.others,
                       place.others.empty() ? 0 : meeting_port(step.state(), lease)};
  if (record.config.resources.external) {
    ExternalLease asked = step.take_asked();
    granted.lease_for = asked.lease_for;
    granted.request = std::move(asked.request);
  }
  step.emit(std::move(granted));
  if (trial.live->external) {
    step.effects().asked.push_back(trial.live->key);
  }
}

void create(Step& step, const ExperimentRecord& record, CreateTrial next, const Placement& place) {
  HPSEARCH_CHECK(next.trial.number() == record.trials.size(), "searchers number trials without gaps");
  const TrialNumber number = next.trial;
  step.emit(TrialCreated{record.id, next.trial, TrialId(step.state().last_trial_id + 1),
                         std::move(next.hparams), next.length, std::move(next.reason)});
  lease(step, record, number, place);
}

void promote(Step& step, const ExperimentRecord& record, PromoteTrial next, const Placement& place) {
  const TrialNumber number = next.trial;
  step.emit(TrialPromoted{record.id, number, next.length, false, std::move(next.reason)});
  reach_lengths(step, record.id, number);  // A program that reported sparsely may be there already.
  const TrialRecord& trial = record.trials[number.number()];
  if (trial.state == TrialState::pending && !trial.live) {
    lease(step, record, number, place);
  }
}

/// Workers that are kept for an attempt on several of them until enough slots are free there.
using Reserved = std::set<WorkerId>;

/// Where a trial fits on one worker that lasts long enough for some. One without slots takes nothing from
/// those that are kept. `too_short`: there is room where there is no time.
std::optional<Placement> find_place(const EngineState& state, const ResourcesConfig& wanted,
                                    const Reserved& reserved, TimeCheck& time, bool& too_short) {
  std::optional<Placement> place;
  static_cast<void>(state.vacancies.find(wanted.slots_per_trial, [&](WorkerId id) {
    const WorkerRecord& worker = state.workers.at(id);
    if (serves(worker, wanted) && (wanted.slots_per_trial == 0 || !reserved.contains(id))) {
      if (!time.lasts_for_any(worker)) {
        too_short = true;
      } else if (auto slots = worker.slots.find_free(wanted.slots_per_trial)) {
        place = Placement{id, *std::move(slots)};
      }
    }
    return place.has_value();
  }));
  return place;
}

/// The same on another worker than `besides`. Only for trials that crashed there: O(workers).
std::optional<Placement> find_place_besides(const EngineState& state, const ResourcesConfig& wanted,
                                            WorkerId besides, const Reserved& reserved,
                                            const TrialRecord& trial, TimeCheck& time) {
  for (const auto& [id, worker] : state.workers) {
    const bool usable = is_in_service(worker) && !state.suspects.contains(id) &&
                        !state.agenda.resting.contains(id) && id != besides && !reserved.contains(id) &&
                        serves(worker, wanted) && (wanted.slots_per_trial > 0 || takes_unslotted(worker)) &&
                        time.lasts_for(worker, trial, trial.length);
    if (auto found = usable ? worker.slots.find_free(wanted.slots_per_trial) : std::nullopt) {
      return Placement{id, std::move(*found)};
    }
  }
  return std::nullopt;
}

/// Its trials do not fit on any worker there is, silent ones included, and its programs know how to be on
/// several. O(workers) for the latter only.
bool needs_several(const EngineState& state, const ExperimentRecord& record) {
  const ResourcesConfig& wanted = record.config.resources;
  return wanted.slots_per_trial > 1 && record.config.resources.spans_workers &&
         !fits_on_one(state.workers, wanted);
}

/// Something of it waits for slots, or its searcher wants something that needs some.
bool needs_slots(const EngineState& state, const ExperimentRecord& record) {
  const bool waits = std::any_of(record.pending.begin(), record.pending.end(), [&record](TrialNumber number) {
    return !record.trials[number.number()].live && !record.delayed.contains(number);
  });
  if (waits || keep_places(state, record)) {
    return waits;
  }
  const Next next = record.searcher->next();
  return std::holds_alternative<CreateTrial>(next) || std::holds_alternative<PromoteTrial>(next);
}

/// Where the oldest of its trials that wait crashed, if others could tell whose fault that was.
WorkerId crashed_on(const EngineState& state, const ExperimentRecord& record, TimeCheck& time) {
  const Ready ready = find_ready(state, record, WorkerId{}, time);
  const std::optional<TrialNumber> oldest = ready.first ? ready.first : ready.last_resort;
  const Box<FailureHistory>* failure_history =
      oldest ? &record.trials[oldest->number()].failure_history : nullptr;
  const bool crashed = failure_history != nullptr && *failure_history && (*failure_history)->crashes > 0 &&
                       !state.trusts_workers;
  return crashed ? (*failure_history)->crashed_on : WorkerId{};
}

/// Workers that get nothing of the experiment now, though they are there.
std::set<WorkerId> unfit(const EngineState& state, TimeCheck& time) {
  std::set<WorkerId> unfit = state.suspects;
  unfit.insert(state.agenda.resting.begin(), state.agenda.resting.end());
  for (const auto& [id, worker] : state.workers) {
    if (!time.lasts_for_any(worker)) {
      unfit.insert(id);
    }
  }
  return unfit;
}

/// All slots of an attempt on several workers, or nothing; then the workers that are to be kept for it.
std::optional<Placement> find_places(const EngineState& state, const ExperimentRecord& record,
                                     Reserved& reserved, TimeCheck& time) {
  const GangPlan plan = plan_gang(state.workers, unfit(state, time), reserved, record.config.resources,
                                  crashed_on(state, record, time));
  if (!plan.complete) {
    reserved.insert(plan.workers.begin(), plan.workers.end());
    return std::nullopt;
  }
  std::optional<Placement> placement;
  for (const WorkerId id : plan.workers) {
    std::vector<SlotIndex> free = *state.workers.at(id).slots.find_free(plan.slots_each);
    if (!placement) {
      placement = Placement{id, std::move(free)};
    } else {
      placement->others.push_back({id, std::move(free)});
    }
  }
  return placement;
}

void close(Step& step, const ExperimentRecord& record, TrialNumber number) {
  const TrialRecord& trial = record.trials[number.number()];
  const bool full = trial.length >= record.config.searcher.max_length;
  step.emit(TrialEnded{record.id, number, full ? TrialState::completed : TrialState::stopped,
                       record.searcher->standing(number)});
}

enum class Filled : std::uint8_t { yes, nothing_wanted, no_time };

/// Gives the place to the experiment.
Filled fill(Step& step, const ExperimentRecord& record, const Placement& place, const Reserved& reserved,
            TimeCheck& time) {
  const WorkerId only = place.others.empty() ? place.worker : WorkerId{};
  const Ready ready = find_ready(step.state(), record, only, time);
  if (ready.first) {
    lease(step, record, *ready.first, place);
    return Filled::yes;
  }
  const std::optional<TrialNumber> last = ready.last_resort;
  const auto lease_elsewhere = [&] {
    const TrialRecord& trial = record.trials[last->number()];
    const auto other =
        should_avoid(step.state(), record, trial, only)
            ? find_place_besides(step.state(), record.config.resources, only, reserved, trial, time)
            : std::nullopt;
    if (other) {
      lease(step, record, *last, *other);
    }
    return other.has_value();
  };
  if (last && !lets_others_try(record, *last) && lease_elsewhere()) {
    return Filled::yes;
  }
  const WorkerRecord& worker = step.state().workers.at(place.worker);
  Next next = keep_places(step.state(), record) ? Next(NothingNow{}) : record.searcher->next();
  bool too_long = false;
  if (auto* wanted = std::get_if<CreateTrial>(&next)) {
    too_long = !time.lasts_for(worker, wanted->length);
    if (!too_long) {
      create(step, record, std::move(*wanted), place);
      return Filled::yes;
    }
  }
  if (auto* wanted = std::get_if<PromoteTrial>(&next)) {
    too_long = !time.lasts_for(worker, record.trials[wanted->trial.number()], wanted->length);
    if (!too_long) {
      promote(step, record, std::move(*wanted), place);
      return Filled::yes;
    }
  }
  if (last) {
    if (!lease_elsewhere()) {
      lease(step, record, *last, place);
    }
    return Filled::yes;
  }
  return too_long || ready.too_long ? Filled::no_time : Filled::nothing_wanted;
}

/// Trials that end because they need nothing more, or because their experiment is stopping, until no more may
/// in this step. False: some are left for the next one.
bool close_what_can_be(Step& step, const ExperimentRecord& record) {
  for (auto named = record.searcher->closable(); !named.empty(); named = record.searcher->closable()) {
    if (!step.take_from_end_quota()) {
      return false;
    }
    close(step, record, named.front());
  }
  return true;
}

bool cancel_what_does_not_run(Step& step, const ExperimentRecord& record) {
  const bool user = record.stopping_as == ExperimentState::canceled;
  for (std::size_t i = record.ended_before; i < record.trials.size(); ++i) {
    const TrialState state = record.trials[i].state;
    if (is_closed(state) || state == TrialState::running) {  // Its attempt may still wind down.
      continue;
    }
    if (!step.take_from_end_quota()) {
      step.ended_before(record.id, i);
      return false;
    }
    Reason ended;
    ended.why = user ? Reason::Why::user : Reason::Why::experiment_end;
    ended.detail = record.reason;
    step.emit(TrialEnded{record.id, TrialNumber(i), TrialState::canceled, std::move(ended)});
  }
  step.ended_before(record.id, record.trials.size());
  return true;
}

bool every_trial_failed(const ExperimentRecord& record) {
  return !record.trials.empty() &&
         record.by_state[static_cast<std::size_t>(TrialState::failed)] == record.trials.size();
}

/// No trial of it has a result, and some failed.
bool has_only_failed(const ExperimentRecord& record) {
  const auto in = [&record](TrialState state) { return record.by_state[static_cast<std::size_t>(state)]; };
  return !record.best && in(TrialState::completed) + in(TrialState::stopped) == 0 &&
         (record.first_failures.failed > 0 || in(TrialState::failed) > 0);
}

/// The note about a search that ended: `note`, and that its best trials may not be the best.
std::string note_of_end(const ExperimentRecord& record, const std::string& note) {
  const auto in = [&record](TrialState state) { return record.by_state[static_cast<std::size_t>(state)]; };
  if (in(TrialState::completed) > 0 || in(TrialState::stopped) == 0) {
    return note;
  }
  Units furthest{};
  for (const TrialRecord& trial : record.trials) {
    furthest = std::max(furthest, trial.reached);
  }
  return note + (note.empty() ? "" : "; ") + "no trial was trained to the full length of " +
         amount(record.config.searcher.max_length, record.config.unit) + ", the longest to " +
         amount(furthest, record.config.unit);
}

/// Why a trial failed, with the last line of its log.
std::string why_it_failed(const TrialRecord& trial) {
  const std::string detail = trial.reason.detail();
  const std::string failure = trial.last_failure ? *trial.last_failure : "";
  const std::string exit = failure.substr(0, failure.find('\n'));
  if (!detail.starts_with(exit)) {
    return detail;  // Its last attempt did not fail.
  }
  return failure_in_one_line(exit, failure.substr(exit.size())) + detail.substr(exit.size());
}

/// Ends the experiment if nothing of it runs and nothing more is wanted. All that can be closed is.
void end_if_over(Step& step, const ExperimentRecord& record) {
  if (!record.running.empty()) {
    return;
  }
  if (record.state == ExperimentState::stopping) {
    step.emit(ExperimentEnded{record.id, record.stopping_as, record.reason});
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
  } else if (every_trial_failed(record)) {
    step.emit(ExperimentEnded{record.id, ExperimentState::failed,
                              "every trial failed; the last: " + why_it_failed(record.trials.back())});
  } else if (has_only_failed(record)) {
    step.emit(ExperimentEnded{record.id, ExperimentState::failed, "no trial came to anything"});
  } else {
    step.emit(ExperimentEnded{record.id, ExperimentState::completed, note_of_end(record, finished->note)});
  }
}

/// Gives one free slot, or as many as a trial needs, to the first in line that can use it.
///
/// An attempt on several workers takes all its slots at once or none. While it waits, it keeps the workers it
/// will have from whoever stands behind it in line, or small trials would take each slot as it becomes free.
bool fill_one(Step& step) {
  const bool some_without_slots =
      step.agenda().claims.any_without_slots() && step.state().vacancies.any_takes_unslotted();
  if (step.state().vacancies.most_free() == 0 && !some_without_slots) {
    return false;  // As long as all slots are in use, which is most of the time, those who wait cost nothing.
  }
  std::vector<const ResourcesConfig*> do_not_fit;  // Few: most experiments want the same.
  Reserved reserved;
  for (auto next = step.agenda().claims.begin(); next != step.agenda().claims.end();) {
    const ExperimentRecord& record = step.state().experiments.at(next->experiment);
    ++next;  // Before the claim may go.
    if (record.searcher_is_idle) {
      continue;
    }
    const ResourcesConfig& wanted = record.config.resources;
    if (slot_quota_reached(*record.workspace, record.owner, wanted.slots_per_trial)) {
      step.hold_back(record, std::nullopt);
      continue;
    }
    if (const auto spent = slot_hours_reached(*record.workspace, wanted.slots_per_trial, step.now())) {
      step.hold_back(record, spent->until);
      continue;
    }
    TimeCheck time(record, step.now());
    const auto fills = [&](const Placement& place) {
      const Filled filled = fill(step, record, place, reserved, time);
      if (filled == Filled::nothing_wanted) {
        step.searcher_is_idle(record.id);
      }
      return filled == Filled::yes;
    };
    if (needs_several(step.state(), record)) {
      if (!needs_slots(step.state(), record)) {
        step.searcher_is_idle(record.id);
      } else if (const auto places = find_places(step.state(), record, reserved, time)) {
        if (fills(*places)) {
          return true;
        }
      }
      continue;
    }
    const bool does_not_fit =
        std::any_of(do_not_fit.begin(), do_not_fit.end(), [&wanted](const ResourcesConfig* other) {
          return other->slots_per_trial == wanted.slots_per_trial && other->labels == wanted.labels &&
                 pool_named(other->resource_pool) == pool_named(wanted.resource_pool);
        });
    if (does_not_fit) {
      continue;
    }
    bool too_short = false;
    const std::optional<Placement> place = find_place(step.state(), wanted, reserved, time, too_short);
    if (!place && !too_short) {
      do_not_fit.push_back(&wanted);
    } else if (place && fills(*place)) {
      return true;  // The order of the claims may be another now.
    }
  }
  return false;
}

/// One more attempt would be within the experiment's limits.
bool may_run_more(const EngineState& state, const ExperimentRecord& record, Instant now) {
  const ResourcesConfig& resources = record.config.resources;
  return record.state == ExperimentState::active && !holds_back(record, now, !state.skips_first_look) &&
         record.running.size() < concurrency_limit(state, record.config) &&
         (!resources.max_slots || slots_in_use(record) + resources.slots_per_trial <= *resources.max_slots);
}

/// When it has to be looked after even if nothing happens.
std::optional<Instant> deadline_of(const EngineState& state, const ExperimentRecord& record, Instant now) {
  const bool may_be_spent =
      record.state == ExperimentState::active || record.state == ExperimentState::paused;
  std::optional<Instant> deadline = may_be_spent ? next_deadline(record) : std::nullopt;
  if (!state.skips_first_look && takes_first_look(record, now) && holds_back(record, now)) {
    const Instant at = record.first_failures.first_start + first_look;
    deadline = deadline ? std::min(*deadline, at) : at;
  }
  return deadline;
}

void update_claim(Step& step, const ExperimentRecord& record) {
  const bool is_wanted = !record.config.resources.external || step.is_asked_for(record.id);
  if (is_wanted && may_run_more(step.state(), record, step.now())) {
    const ResourcesConfig& resources = record.config.resources;
    step.agenda().claims.put(Claim{record.id, resources.priority, resources.weight, slots_in_use(record),
                                   resources.slots_per_trial});
  } else {
    step.agenda().claims.remove(record.id);
  }
}

/// Whatever follows for the experiment from what it is now, but new leases.
void look_after(Step& step, ExperimentId id) {
  const ExperimentRecord& record = step.state().experiments.at(id);
  if (!is_ended(record.state)) {
    if (record.state != ExperimentState::stopping) {
      if (const std::optional<std::string> spent = spent_budget(record, step.now())) {
        const std::optional<Instant> time_is_over = next_deadline(record);
        stop_experiment(step, id,
                        has_only_failed(record) ? ExperimentState::failed : ExperimentState::completed, false,
                        *spent, /*cuts_short=*/time_is_over && *time_is_over <= step.now());
      }
    }
    const bool all = record.state == ExperimentState::stopping ? cancel_what_does_not_run(step, record)
                                                               : close_what_can_be(step, record);
    if (all) {
      end_if_over(step, record);
    } else {
      step.continue_in_next_step(id);
    }
  }
  collect_checkpoints(step, id);
  step.agenda().set_deadline(id, deadline_of(step.state(), record, step.now()));
  update_claim(step, record);
}

void look_after_touched(Step& step) {
  std::vector<ExperimentId>& touched = step.agenda().touched;
  for (std::size_t i = 0; i < touched.size(); ++i) {  // It grows on the way.
    const ExperimentId id = touched[i];
    step.looked_after(id);
    look_after(step, id);
  }
  touched.clear();
}

void touch_unfinished(Step& step) {
  for (const ExperimentId id : step.take_unfinished()) {
    step.look_after(id);
  }
}

void touch_overdue(Step& step) {
  for (const auto& [deadline, id] : step.agenda().deadlines) {
    if (deadline > step.now()) {
      break;
    }
    step.look_after(id);
  }
}

}  // namespace

void close_all(Step& step, const ExperimentRecord& record, const std::vector<TrialNumber>& named) {
  for (const TrialNumber trial : named) {
    close(step, record, trial);
  }
}

void close_all_that_can_be(Step& step, ExperimentId id) {
  const ExperimentRecord& record = step.state().experiments.at(id);
  if (record.state != ExperimentState::stopping) {  // Then its searcher does not hear how its trials end.
    const auto named = record.searcher->closable();
    close_all(step, record, {named.begin(), named.end()});
  }
}

void give_up_if_hopeless(Step& step, ExperimentId id) {
  const Next next = step.state().experiments.at(id).searcher->next();
  if (const auto* finished = std::get_if<Finished>(&next); finished != nullptr && finished->problem) {
    stop_experiment(step, id, ExperimentState::failed, false, *finished->problem);
  }
}

std::uint64_t trials_that_could_start(const EngineState& state, const ExperimentRecord& record, Instant now) {
  const ResourcesConfig& resources = record.config.resources;
  const std::uint64_t each = resources.slots_per_trial;
  const bool held_back = holds_back(record, now, !state.skips_first_look) ||
                         slot_quota_reached(*record.workspace, record.owner, each) ||
                         slot_hours_reached(*record.workspace, each, now);
  if (record.state != ExperimentState::active || resources.external || held_back) {
    return 0;
  }
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const auto bound = [&most](std::uint64_t limit, std::uint64_t used, std::uint64_t divisor) {
    most = std::min(most, limit > used ? (limit - used) / std::max<std::uint64_t>(1, divisor) : 0);
  };
  if (record.config.searcher.max_concurrent_trials > 0) {  // 0 follows the slots there are.
    bound(record.config.searcher.max_concurrent_trials, record.running.size(), 1);
  }
  if (resources.max_slots) {
    bound(*resources.max_slots, slots_in_use(record), each);
  }
  if (record.workspace->quota.max_slots) {
    bound(*record.workspace->quota.max_slots, record.workspace->slots, each);
  }
  if (most == 0) {
    return 0;
  }
  std::uint64_t trials = static_cast<std::uint64_t>(
      std::count_if(record.pending.begin(), record.pending.end(), [&record](TrialNumber number) {
        return !record.trials[number.number()].live && !record.delayed.contains(number);
      }));
  if (trials < most && !keep_places(state, record)) {
    const Next next = record.searcher->next();
    if (std::holds_alternative<CreateTrial>(next)) {
      const std::uint64_t planned = record.config.searcher.max_trials;
      trials += planned > record.trials.size() ? planned - record.trials.size() : 1;
    } else if (std::holds_alternative<PromoteTrial>(next)) {
      trials += 1;
    }
  }
  return std::min(trials, most);
}

namespace {

void settle(Step& step) {
  touch_unfinished(step);
  touch_overdue(step);
  step.end_start_delays();
  std::uint64_t granted = 0;
  do {
    look_after_touched(step);
    if (granted == most_leases) {  // Others are served in between.
      if (const auto next = step.agenda().claims.begin(); next != step.agenda().claims.end()) {
        step.continue_in_next_step(next->experiment);
      }
      return;
    }
    ++granted;
  } while (fill_one(step));
}

}  // namespace

void schedule(Step& step) {
  settle(step);
  step.end_ask();
}

}  // namespace hpsearch::engine
