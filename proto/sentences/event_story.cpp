#include "hpsearch/proto/sentences/event_story.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/experiment/deleted_experiment.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/proto/sentences/reason.hpp"
#include "hpsearch/proto/sentences/words.hpp"

namespace hpsearch::sentences {
namespace {

using engine::AttemptKey;
using engine::Reason;
using engine::TrialNumber;
using Line = EventStory::Line;

std::string lower(std::string_view upper) {
  std::string text(upper);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

std::string after_colon(const std::string& text) {
  return text.empty() ? "" : ": " + text;
}

/// " by alice"
std::string by(const std::string& actor) {
  return actor.empty() ? "" : " by " + actor;
}

/// " (alice)"
std::string in_brackets(const std::string& actor) {
  return actor.empty() ? "" : " (" + actor + ")";
}

/// "8", "none"
std::string limit_text(const std::optional<std::uint64_t>& limit) {
  return limit ? std::to_string(*limit) : "none";
}

std::string name_of(TrialNumber trial) {
  return "trial " + std::to_string(trial.number());
}

std::string name_of(engine::WorkerId worker) {
  return "worker " + std::to_string(worker.number());
}

std::string attempt_of(const AttemptKey& key) {
  return "attempt " + std::to_string(key.attempt.number());
}

/// " in bracket 1, replacement for a trial with invalid hyperparameters"; "" for a new trial of a
/// search without brackets.
std::string why_created(const Reason& reason) {
  std::string text;
  if (reason.bracket.value_or(0) > 0) {
    text += " in bracket " + std::to_string(*reason.bracket);
  }
  if (reason.why != Reason::Why::new_trial) {
    Reason alone = reason;  // The bracket in which it begins is no rank.
    alone.bracket.reset();
    alone.rung.reset();
    alone.at.reset();
    text += ", " + describe(alone);
  }
  return text;
}

/// "slot 3 of worker 2 is", "slots 0, 3 of worker 2 are"
std::string slots_are(const std::vector<engine::SlotIndex>& slots, engine::WorkerId worker) {
  std::string text = slots.size() == 1 ? "slot " : "slots ";
  for (std::size_t i = 0; i < slots.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(slots[i].number());
  }
  return text + " of " + name_of(worker) + (slots.size() == 1 ? " is" : " are");
}

/// The end of a program is shown only if it is trouble. `where` has its trial and attempt.
Line exit_line(const engine::ExitReport& exit, const std::string& where) {
  using Cause = engine::ExitReport::Cause;
  if (exit.cause == Cause::ended_by_agent || (exit.cause == Cause::exited && exit.code == 0)) {
    return {};
  }
  if (!exit.message.empty()) {
    return {where + ": " + exit.message +
                (exit.cause == Cause::checkpoint_gone
                     ? "; the trial continues from its checkpoint before, or from the start"
                     : ""),
            true};
  }
  return {where +
              (exit.cause == Cause::signaled ? ": its program was ended by signal "
                                             : ": its program ended with exit status ") +
              std::to_string(exit.code),
          true};
}

}  // namespace

/// A new kind of event needs an overload here, or it doesn't compile.
struct EventStory::LineOf {
  EventStory& story;

  // --- experiments ---

  Line operator()(const engine::ExperimentCreated& /*event*/) const { return {}; }

  Line operator()(const engine::ExperimentPaused& event) const {
    story.paused_ = true;
    if (story.live_.empty()) {
      story.idle_from_ = story.now_;
    }
    return event.reason.empty() ? Line{"the experiment is paused" + by(event.actor)}
                                : Line{"the experiment paused itself: " + event.reason, true};
  }

  Line operator()(const engine::ExperimentResumed& event) const {
    story.paused_ = false;
    return {"the experiment is resumed" + by(event.actor)};
  }

  Line operator()(const engine::ExperimentReopened& event) const {
    story.ended_ = false;
    return {"the experiment continues: its limits changed" + in_brackets(event.actor)};
  }

  Line operator()(const engine::ExperimentArchived& event) const {
    return {"the experiment is archived" + by(event.actor) + ": lists leave it out"};
  }

  Line operator()(const engine::ExperimentUnarchived& event) const {
    return {"the experiment is shown in lists again" + by(event.actor)};
  }

  Line operator()(const engine::ExperimentDeleted& event) const {
    return {event.kept_for == engine::Duration{}
                ? "the experiment is deleted" + by(event.actor)
                : "the experiment is removed by the retention of the daemon, which keeps experiments for " +
                      engine::kept_for_text(event.kept_for) + " after their end"};
  }

  Line operator()(const engine::ProgramChanged& event) const {
    std::string files;
    for (const std::string& file : event.changed) {
      files += (files.empty() ? "" : ", ") + file;
    }
    std::string text = "the experiment has another program" +
                       (files.empty() ? "" : ": " + files + " changed") + in_brackets(event.actor);
    if (event.context_digest.empty()) {
      return {text + "; all attempts that start from now on run it"};
    }
    text += "; " + name_of(event.from) + " and later trials run it";
    for (std::size_t i = 0; i < event.also.size(); ++i) {
      text += (i > 0                    ? ", "
               : event.also.size() == 1 ? ", and so does "
                                        : ", and so do ") +
              name_of(event.also[i]);
    }
    return {text + (event.also.empty() ? "" : ", which reported nothing yet")};
  }

  Line operator()(const engine::ExperimentStopping& event) const {
    return {"the experiment is ending" + after_colon(event.reason) + in_brackets(event.actor)};
  }

  Line operator()(const engine::ExperimentEnded& event) const {
    story.ended_ = true;
    return {"the experiment is " + lower(engine::name_of(event.state)) + after_colon(event.reason)};
  }

  Line operator()(const engine::LimitsChanged& event) const {
    return {event.actor.empty() ? "" : "limits of the experiment were changed" + by(event.actor)};
  }

  Line operator()(const engine::Annotated& event) const {
    std::string labels;
    for (const std::string& label : event.labels) {
      labels += (labels.empty() ? "" : ", ") + label;
    }
    return {(event.trial ? name_of(*event.trial) : "the experiment") + " was annotated" + by(event.actor) +
            (event.starred ? "; starred" : "") + (labels.empty() ? "" : "; labels " + labels) +
            (event.note.empty() ? "" : "; note: " + event.note)};
  }

  Line operator()(const engine::LogsRemoved& event) const {
    return {"the daemon removed the kept logs of " + name_of(event.trial) + " to make room"};
  }

  Line operator()(const engine::CurveThinned& event) const {
    return {"the retention of the daemon removed reports from the curve of " + name_of(event.trial) + "; " +
            counted(event.left, "report") + " of it " + (event.left == 1 ? "is" : "are") + " left"};
  }

  Line operator()(const engine::RowsRemoved& /*event*/) const { return {}; }

  // --- trials ---

  Line operator()(const engine::TrialCreated& event) const {
    return {name_of(event.trial) + " created" + why_created(event.reason) + ", to train to " +
            story.amount(event.length) + ": " + flat_text(event.hparams)};
  }

  Line operator()(const engine::TrialPromoted& event) const {
    const std::string place = story.where(event.trial);
    const std::string rank = event.reason.why == Reason::Why::promoted
                                 ? describe_rank(event.reason, story.unit_)
                                 : describe(event.reason, story.unit_);
    return {name_of(event.trial) + " promoted to " + story.amount(event.length) +
            (place.empty() ? "" : "," + place) + after_colon(rank)};
  }

  /// Shown together with the decision about it.
  Line operator()(const engine::LengthReached& event) const {
    story.reached_[event.trial] = {event.ended ? event.step : std::max(event.step, event.length),
                                   event.metric};
    return {};
  }

  Line operator()(const engine::TrialPaused& event) const {
    return {name_of(event.trial) + " paused" + story.where(event.trial) +
            after_colon(describe(event.reason, story.unit_))};
  }

  Line operator()(const engine::TrialQueued& event) const {
    return {event.judged ? "" : name_of(event.trial) + " waits for a slot to continue"};
  }

  Line operator()(const engine::TrialRetried& event) const {
    return {name_of(event.trial) + " is tried once more" + by(event.actor)};
  }

  /// The end of the trial follows and has the reason.
  Line operator()(const engine::TrialExitedEarly& event) const {
    return {event.actor.empty() ? "" : name_of(event.trial) + " is ended" + by(event.actor)};
  }

  Line operator()(const engine::TrialEnded& event) const {
    return {name_of(event.trial) + " " + lower(engine::name_of(event.state)) + story.where(event.trial) +
                after_colon(describe(event.reason, story.unit_)),
            event.state == engine::TrialState::failed};
  }

  // --- attempts ---

  Line operator()(const engine::LeaseGranted& event) const {
    const Attempt attempt{event.trial.number(), event.attempt.number()};
    if (!event.others.empty()) {
      story.gangs_.insert(attempt);
    }
    story.begins(attempt);
    return {};
  }

  Line operator()(const engine::AttemptStarted& event) const {
    if (event.member != engine::WorkerId()) {
      return {};  // The line of rank 0 is enough.
    }
    const std::uint64_t attempt = event.key.attempt.number();
    return {name_of(event.key.trial) + " started" +
            (attempt > 1 ? " (attempt " + std::to_string(attempt) + ")" : "")};
  }

  Line operator()(const engine::ReportTaken& event) const {
    const std::string trial = name_of(event.key.trial);
    if (const auto* invalid = std::get_if<engine::InvalidHparamsReport>(&event.report)) {
      return {trial + " reports invalid hyperparameters" + after_colon(invalid->why)};
    }
    if (const auto* exit = std::get_if<engine::ExitReport>(&event.report)) {
      const Attempt attempt{event.key.trial.number(), event.key.attempt.number()};
      if (!story.gangs_.contains(attempt)) {
        story.is_over(attempt);
      }
      return exit_line(*exit, trial + ", " + attempt_of(event.key));
    }
    return {};
  }

  Line operator()(const engine::AttemptLost& event) const {
    story.is_over({event.key.trial.number(), event.key.attempt.number()});
    return {name_of(event.key.trial) + " lost its " + attempt_of(event.key) + after_colon(event.why), true};
  }

  Line operator()(const engine::AttemptAdopted& event) const {
    story.begins({event.key.trial.number(), event.key.attempt.number()});
    return {name_of(event.key.trial) + " continues its " + attempt_of(event.key) + " on " +
            name_of(event.worker)};
  }

  Line operator()(const engine::AttemptDisowned& event) const {
    return {name_of(event.worker) + " must end " + attempt_of(event.key) + " of " + name_of(event.key.trial) +
            ", which is not in this store; requested by " +
            (event.actor.empty() ? "an operator" : event.actor)};
  }

  Line operator()(const engine::MemberExited& event) const {
    return exit_line(event.exit, name_of(event.key.trial) + ", on " + name_of(event.worker) + ", " +
                                     attempt_of(event.key));
  }

  Line operator()(const engine::MemberLost& event) const {
    return {name_of(event.key.trial) + " lost the part of " + attempt_of(event.key) + " on " +
                name_of(event.worker) + after_colon(event.why),
            true};
  }

  Line operator()(const engine::GangEnded& event) const {
    const Attempt attempt{event.key.trial.number(), event.key.attempt.number()};
    story.gangs_.erase(attempt);
    story.is_over(attempt);
    return {};
  }

  Line operator()(const engine::StartDelayed& event) const {
    const std::int64_t seconds = event.wait.in_micros() / 1'000'000;
    if (seconds <= 0) {
      return {};  // It starts at once, and the next line shows that.
    }
    return {name_of(event.trial) + " is retried in " + std::to_string(seconds) + " s: its last " +
                (event.times == 1 ? "attempt" : counted(event.times, "attempt")) + " ended without a report" +
                after_colon(event.why),
            true};
  }

  Line operator()(const engine::CheckpointsCollected& event) const {
    return {name_of(event.trial) + ": " + counted(event.paths.size(), "checkpoint") +
            (event.actor.empty() ? " no longer needed" : " deleted by " + event.actor)};
  }

  Line operator()(const engine::CheckpointsDeleted& /*event*/) const { return {}; }

  // --- workers and the store ---

  Line operator()(const engine::WorkerJoined& event) const {
    return {"worker " + event.name + " joined with " + counted(event.slots, event.slot_kind + " slot")};
  }

  Line operator()(const engine::WorkerLost& event) const {
    return {name_of(event.worker) + " left" + after_colon(event.why)};
  }

  Line operator()(const engine::WorkerQuarantined& event) const {
    const std::int64_t minutes = event.probation_after.in_micros() / 60'000'000;
    return {name_of(event.worker) + " is in quarantine" + after_colon(event.why) + in_brackets(event.actor) +
                (minutes > 0 ? "; it is tried with one trial in " + std::to_string(minutes) + " min" : ""),
            true};
  }

  Line operator()(const engine::WorkerDraining& event) const {
    return {name_of(event.worker) + " is draining: it gets no new trials" + in_brackets(event.actor)};
  }

  Line operator()(const engine::WorkerEndNoted& event) const {
    const std::int64_t minutes = (event.ends_in.in_micros() + 59'999'999) / 60'000'000;
    return {name_of(event.worker) +
            (minutes > 0 ? " ends in " + std::to_string(minutes) + " min" : " has no known end any more")};
  }

  Line operator()(const engine::WorkerReleased& event) const {
    return {name_of(event.worker) + " gets new trials again" + by(event.actor) +
            (event.proven ? ": the one trial that it got works" : "")};
  }

  Line operator()(const engine::WorkerForgotten& event) const {
    return {name_of(event.worker) + " was forgotten" + by(event.actor) + after_colon(event.why)};
  }

  Line operator()(const engine::QueueAdded& event) const {
    return {"queue " + event.queue + " was added" + by(event.actor) + ": at most " +
            counted(event.settings.max_workers, "worker")};
  }
  Line operator()(const engine::QueueChanged& event) const {
    return {"queue " + event.queue + " was changed" + by(event.actor)};
  }
  Line operator()(const engine::QueuePaused& event) const {
    return {"queue " + event.queue + " asks for no more allocations" +
                (event.why.empty() ? by(event.actor) : after_colon(event.why)),
            !event.why.empty()};
  }
  Line operator()(const engine::QueueResumed& event) const {
    return {"queue " + event.queue + " asks for allocations again" + by(event.actor)};
  }
  Line operator()(const engine::QueueRemoved& event) const {
    return {"queue " + event.queue + " was removed" + by(event.actor) +
            (event.at_once ? "; its allocations are canceled" : "; its allocations end by themselves")};
  }
  Line operator()(const engine::AllocationWanted& event) const {
    return {"allocation " + text_of(event.name) + " is wanted, with " + counted(event.workers, "worker")};
  }
  Line operator()(const engine::AllocationSubmitted& event) const {
    return {"allocation " + text_of(event.name) + " waits for its start as job " + event.job};
  }
  Line operator()(const engine::AllocationStarted& event) const {
    return {"allocation " + text_of(event.name) + " runs"};
  }
  Line operator()(const engine::AllocationCanceled& event) const {
    return {"allocation " + text_of(event.name) + " is canceled" + by(event.actor) + after_colon(event.why),
            event.will_not_start};
  }
  Line operator()(const engine::AllocationEnded& event) const {
    return {"allocation " + text_of(event.name) + " has ended (" + std::string(name_of(event.end)) + ")" +
            after_colon(event.detail)};
  }

  Line operator()(const engine::SlotsQuarantined& event) const {
    return {slots_are(event.slots, event.worker) + " out of use: a process of " + name_of(event.key.trial) +
                ", " + attempt_of(event.key) + ", survives SIGKILL",
            true};
  }

  Line operator()(const engine::SlotsReleased& event) const {
    return {"the slots of " + name_of(event.key.trial) + ", " + attempt_of(event.key) + ", on " +
            name_of(event.worker) + " are in use again" + (event.gone ? "" : "; requested by an operator")};
  }

  Line operator()(const engine::SlotWithdrawn& event) const {
    return {"slot " + std::to_string(event.slot.number()) + " of " + name_of(event.worker) +
                " is out of use" + after_colon(event.why),
            true};
  }

  Line operator()(const engine::SlotRestored& event) const {
    return {"slot " + std::to_string(event.slot.number()) + " of " + name_of(event.worker) +
            (event.healthy ? " is healthy again"
                           : " is in use again, although it is not healthy; requested by an operator")};
  }

  Line operator()(const engine::StoreRestored& /*event*/) const { return {}; }

  Line operator()(const engine::LeaseTimeAdded& event) const {
    const std::int64_t seconds = event.more.in_micros() / 1'000'000;
    return seconds == 0
               ? Line{}
               : Line{name_of(event.key.trial) + ": the worker of " + attempt_of(event.key) +
                      " has run it for " + std::to_string(seconds) + " s that the restored store lacked"};
  }

  Line operator()(const engine::RequestTaken& /*event*/) const { return {}; }

  Line operator()(const engine::WorkspaceCreated& event) const {
    return {"workspace " + event.workspace + " was created" + by(event.actor)};
  }

  Line operator()(const engine::QuotaChanged& event) const {
    std::string text = "the quota of workspace " + event.workspace + " was changed" + by(event.actor);
    const engine::Quota quota = event.quota();
    const char* before = ": ";
    for (const engine::QuotaLimit& limit : engine::quota_limits) {
      text += before + std::string(limit.name) + " " + limit_text(quota.*limit.value);
      before = ", ";
    }
    return {std::move(text)};
  }

  Line operator()(const engine::TimeNoted& event) const {
    const std::int64_t seconds = event.uncounted.in_micros() / 1'000'000;
    return seconds == 0 ? Line{}
                        : Line{"the daemon started; " + std::to_string(seconds) +
                               " s without a daemon count for no budget"};
  }
};

Line EventStory::tell(const engine::Event& event) {
  now_ = static_cast<double>(event.at.micros()) / 1e6;
  return std::visit(LineOf{*this}, event.body);
}

std::string EventStory::amount(engine::Units length) const {
  return engine::amount(length, unit_);
}

std::string EventStory::where(TrialNumber trial) {
  const auto found = reached_.find(trial);
  if (found == reached_.end()) {
    return "";
  }
  const Reached reached = found->second;
  reached_.erase(found);
  return " at " + amount(reached.step) + " with " + metric_ + " " +
         (reached.metric ? metric_text(*reached.metric) : "missing");
}

void EventStory::begins(const Attempt& attempt) {
  live_.insert(attempt);
  if (idle_from_) {
    idle_seconds_ += std::max(0.0, now_ - *idle_from_);
    idle_from_.reset();
  }
}

void EventStory::is_over(const Attempt& attempt) {
  live_.erase(attempt);
  if (paused_ && live_.empty()) {
    idle_from_ = now_;
  }
}

}  // namespace hpsearch::sentences
