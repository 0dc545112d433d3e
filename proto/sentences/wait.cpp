#include "hpsearch/proto/sentences/wait.hpp"

#include <variant>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/experiment/trial_record.hpp"
#include "hpsearch/proto/sentences/words.hpp"

namespace hpsearch::sentences {
namespace {

/// " in resource pool \"big\" with label gpu=h200"; "" for every worker.
std::string of_these(const std::optional<engine::WantedWorkers>& wanted) {
  if (!wanted) {
    return "";
  }
  std::string text = " in resource pool \"" + wanted->pool + "\"";
  const char* before = " with label ";
  for (const auto& [key, value] : wanted->labels) {
    text += before + key + "=" + value;
    before = " and ";
  }
  return text;
}

/// "2 of 4 slots are free"
std::string free_text(std::uint64_t free, std::uint64_t total,
                      const std::optional<engine::WantedWorkers>& wanted) {
  return std::to_string(free) + " of " + counted(total, "slot") + of_these(wanted) +
         (total == 1 ? " is free" : " are free");
}

/// ", 2 in use by search lr (process 12)"
std::string taken_text(const std::vector<engine::TakenSlots>& taken) {
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t i = 0; i < taken.size() && i < most; ++i) {
    text += ", " + std::to_string(taken[i].slots) + " " + taken[i].why;
  }
  return text + (taken.size() > most ? " and others (hpsearch workers shows all)" : "");
}

std::string too_large_text(const engine::TooLargeForOneWorker& trial) {
  return "a trial needs " + counted(trial.slots_per_trial, "slot") + ", and no worker" +
         of_these(trial.wanted) +
         (trial.largest < trial.slots_per_trial ? " has more than " + std::to_string(trial.largest)
                                                : " has " + std::to_string(trial.slots_per_trial) +
                                                      " usable ones (hpsearch workers shows the reasons)");
}

/// "3 d 4 h", "25 s", rounded up.
std::string long_time_text(engine::Duration time) {
  constexpr std::int64_t micros_of_hour = std::int64_t{3'600} * 1'000'000;
  if (time.in_micros() < micros_of_hour) {
    return seconds_text(time);
  }
  const std::int64_t hours = (time.in_micros() + micros_of_hour - 1) / micros_of_hour;
  return (hours < 24 ? "" : std::to_string(hours / 24) + " d ") + std::to_string(hours % 24) + " h";
}

/// "41 min", "25 s", "3 h 5 min", rounded up.
std::string minutes_text(engine::Duration time) {
  const std::int64_t seconds = (time.in_micros() + 999'999) / 1'000'000;
  if (seconds < 120) {
    return std::to_string(seconds) + " s";
  }
  const std::int64_t minutes = (seconds + 59) / 60;
  return (minutes < 120 ? "" : std::to_string(minutes / 60) + " h ") +
         std::to_string(minutes < 120 ? minutes : minutes % 60) + " min";
}

/// One sentence per cause.
struct WhyTrialWaits {
  std::string operator()(const engine::WaitForResume& /*wait*/) const { return "the experiment is paused"; }

  std::string operator()(const engine::WaitForConcurrency& wait) const {
    std::string text = counted(wait.running, "trial") + " of this experiment " +
                       (wait.running == 1 ? "is running" : "are running");
    if (wait.delayed > 0) {
      text += ", " + std::to_string(wait.delayed) + (wait.delayed == 1 ? " waits" : " wait") + " for a retry";
    }
    text += ", and max_concurrent_trials is ";
    if (!wait.limit.slots) {
      return text + std::to_string(wait.limit.trials);
    }
    return text + "0, which allows " + counted(wait.limit.trials, "trial") + " on the " +
           counted(*wait.limit.slots, "slot") + " of its workers";
  }

  std::string operator()(const engine::WaitForFirstReport& wait) const {
    const std::string until = wait.remaining == engine::Duration{}
                                  ? "until one reports something"
                                  : "until one measures the metric at a second step, or for another " +
                                        seconds_text(wait.remaining);
    return (wait.failed == 0 ? "the first attempts have only just started"
                             : counted(wait.failed, "trial") + " failed in the same way (" + wait.why + ")") +
           "; " + until + ", no more than " + std::to_string(wait.most) + " are started";
  }

  std::string operator()(const engine::WaitForMaxSlots& wait) const {
    return "this experiment uses " + counted(wait.used, "slot") + ", a trial needs " +
           std::to_string(wait.slots_per_trial) + ", and max_slots is " + std::to_string(wait.max_slots);
  }

  std::string operator()(const engine::WaitForQuota& wait) const {
    const std::string workspace = "workspace \"" + wait.workspace + "\"";
    const std::string needs = ", a trial needs " + std::to_string(wait.slots_per_trial) +
                              ", and the quota is " + std::to_string(wait.most);
    if (!wait.per_user) {
      return workspace + " uses " + counted(wait.used, "slot") + needs + " (max_slots)";
    }
    return (wait.user.empty() ? std::string("users without a name use ") : wait.user + " uses ") +
           counted(wait.used, "slot") + " of " + workspace + needs + " for each user (max_slots_per_user)";
  }

  std::string operator()(const engine::WaitForSlotHours& wait) const {
    return "workspace \"" + wait.workspace + "\" has used " +
           engine::short_number(wait.used.in_seconds() / 3'600) +
           " slot hours in the last 30 days, and the quota is " + std::to_string(wait.most) +
           " (slot_hours_per_30d); no trial starts " +
           (wait.remaining == engine::Duration{}
                ? "until it is raised"
                : "for the next " + long_time_text(wait.remaining) + " unless it is raised");
  }

  std::string operator()(const engine::WaitForRestingWorkers& wait) const {
    return "the last attempts failed to start on every worker (hpsearch workers shows the reasons); the next "
           "attempt starts in " +
           seconds_text(wait.remaining);
  }

  std::string operator()(const engine::WaitForWorker& wait) const {
    return "no worker" + of_these(wait.wanted) + " is connected" +
           (wait.wanted ? " (hpsearch workers lists all workers)" : "");
  }

  std::string operator()(const engine::WaitForRelease& wait) const {
    if (wait.draining > 0) {
      return "every worker" + of_these(wait.wanted) + " is draining" +
             (wait.quarantined > 0 ? " or in quarantine" : "") +
             " (hpsearch workers shows them, hpsearch release lets a worker get trials again)";
    }
    return "every worker" + of_these(wait.wanted) +
           " is in quarantine (hpsearch workers shows the reasons, hpsearch release ends the quarantine)";
  }

  std::string operator()(const engine::WaitForLargerWorker& wait) const {
    return too_large_text(wait.trial) + "; it cannot use several workers (resources.spans_workers is false)";
  }

  std::string operator()(const engine::WaitForReachableWorkers& wait) const {
    return too_large_text(wait.trial) + "; it cannot be split into equal parts on " +
           (wait.least_workers > 2 ? "at least " + std::to_string(wait.least_workers) + " workers"
                                   : std::string("several workers")) +
           " that can reach each other" +
           (wait.least_workers > 2 ? " (resources.least_workers, hpsearch-worker --address)"
                                   : " (hpsearch-worker --address)");
  }

  std::string operator()(const engine::WaitForGang& wait) const {
    return too_large_text(wait.trial) + "; it waits until " + std::to_string(wait.workers) +
           " workers have " + counted(wait.slots_each, "free slot") + " each at the same time, and " +
           std::to_string(wait.ready) + (wait.ready == 1 ? " has" : " have") +
           " them now; experiments behind it get no slots of these workers";
  }

  std::string operator()(const engine::WaitForFreeSlots& wait) const {
    return free_text(wait.free, wait.total, wait.wanted) +
           (wait.out_of_use == 0 ? ""
                                 : ", " + std::to_string(wait.out_of_use) +
                                       " out of use (hpsearch workers shows the reasons)") +
           taken_text(wait.taken) + ", at most " + std::to_string(wait.most_on_one_worker) +
           " on one worker, and a trial needs " + std::to_string(wait.slots_per_trial);
  }

  std::string operator()(const engine::WaitForDevices& wait) const {
    return free_text(wait.free, wait.total, wait.wanted) + ", but a trial needs " +
           std::to_string(wait.slots_per_trial) + " on different devices of one worker";
  }

  std::string operator()(const engine::WaitForRoomWithoutSlots& wait) const {
    return "the workers" + of_these(wait.wanted) + " run " + counted(wait.running, "trial") +
           " without slots, and together they take " + std::to_string(wait.most) +
           " (--max-unslotted of hpsearch-worker)";
  }

  std::string operator()(const engine::WaitForTime& wait) const {
    const std::string measured = wait.attempts == 0 ? "estimated; resources.time_request says it"
                                                    : "p90 of " + counted(wait.attempts, "attempt");
    return "it needs " + minutes_text(wait.needed) + " (" + measured + "), and worker \"" + wait.worker +
           "\", which lasts longest of those with free slots, takes trials for " + minutes_text(wait.left);
  }

  std::string operator()(const engine::WaitForTurn& wait) const {
    return "the free slots go to other experiments (this one has priority " + std::to_string(wait.priority) +
           " and weight " + engine::short_number(wait.weight) + "), or their workers are suspect or resting";
  }

  std::string operator()(const engine::WaitForClient& /*wait*/) const {
    return "no client asks for trials of this experiment now (POST …/ask)";
  }

  std::string operator()(const engine::WaitForRetry& wait) const {
    return (wait.fruitless == 1 ? "its last attempt"
                                : "its last " + std::to_string(wait.fruitless) + " attempts") +
           std::string(" ended without a report") +
           (wait.worker.empty() ? ""
                                : (wait.fruitless == 1 ? " on worker \"" : ", the last one on worker \"") +
                                      wait.worker + "\"") +
           (wait.why.empty() ? "" : ": " + wait.why) + "; try " + std::to_string(wait.fruitless + 1) +
           " of " + std::to_string(engine::most_fruitless_attempts) + " starts in " +
           seconds_text(wait.remaining);
  }
};

}  // namespace

std::string why_trial_waits(const engine::Wait& wait) {
  return std::visit(WhyTrialWaits{}, wait);
}

std::string why_experiment_waits(const std::optional<engine::Wait>& wait) {
  if (!wait) {
    return "";
  }
  const auto* retry = std::get_if<engine::WaitForRetry>(&*wait);
  return (retry == nullptr ? "" : "trial " + std::to_string(retry->trial.number()) + ": ") +
         why_trial_waits(*wait);
}

std::string why_worker_rests(const std::optional<engine::WorkerRest>& rest) {
  return rest ? counted(rest->start_failures, "attempt") +
                    " in a row failed to start there; the next one starts in " + seconds_text(rest->remaining)
              : "";
}

std::string probation_text(const engine::WorkerRecord& worker, engine::Instant now) {
  if (worker.quarantined.empty() || !worker.probation) {
    return "";
  }
  return worker.probation->attempt  ? "one trial runs there now, to show whether the worker works again"
         : worker.rests_until > now ? "one trial starts there in " + seconds_text(worker.rests_until - now)
                                    : "the next trial that fits starts there";
}

}  // namespace hpsearch::sentences
