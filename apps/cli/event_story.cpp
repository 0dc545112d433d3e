#include "cli/event_story.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "cli/text.hpp"
#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/proto/stored.hpp"

namespace hpsearch::cli {
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
  return text.empty() ? "" : ": " + printable(text);
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

/// " in bracket 1, in place of a trial with invalid hyperparameters"; nothing of a plain new trial of a
/// search that has no brackets.
std::string why_created(const Reason& reason) {
  std::string text;
  if (reason.bracket) {
    text += " in bracket " + std::to_string(*reason.bracket);
  }
  if (reason.why != Reason::Why::new_trial) {
    Reason alone;
    alone.why = reason.why;
    alone.detail = reason.detail;
    text += ", " + printable(engine::describe(alone));
  }
  return text;
}

/// "HH:MM:SS  ".
std::string clock_at(double seconds) {
  const std::string time = time_text(seconds);
  return time.size() < 8 ? std::string() : time.substr(time.size() - 8) + "  ";
}

/// "slot 3 of worker 2 is", "slots 0, 3 of worker 2 are"
std::string slots_are(const std::vector<engine::SlotIndex>& slots, engine::WorkerId worker) {
  std::string text = slots.size() == 1 ? "slot " : "slots ";
  for (std::size_t i = 0; i < slots.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(slots[i].number());
  }
  return text + " of " + name_of(worker) + (slots.size() == 1 ? " is" : " are");
}

/// A program's end is shown when it is trouble. `where`: the trial and what of it ended.
Line exit_line(const engine::ExitReport& exit, const std::string& where) {
  using Cause = engine::ExitReport::Cause;
  if (exit.cause == Cause::ended_by_agent || (exit.cause == Cause::exited && exit.code == 0)) {
    return {};
  }
  if (!exit.message.empty()) {
    return {where + ": " + printable(exit.message), true};
  }
  return {where +
              (exit.cause == Cause::signaled ? ": its program was ended by signal "
                                             : ": its program ended with exit status ") +
              std::to_string(exit.code),
          true};
}

}  // namespace

Line EventStory::tell(const engine::Value& event) {
  const engine::Result<engine::Event> read = proto::event_of(event);
  return read ? tell(*read) : Line{"an event cannot be read: " + printable(read.error().message), true};
}

Line EventStory::tell(const engine::Event& event) {
  now_ = static_cast<double>(event.at.micros()) / 1e6;
  Line line = std::visit([this](const auto& body) { return line_of(body); }, event.body);
  if (!line.text.empty()) {
    line.text = clock_at(now_) + line.text;
  }
  return line;
}

std::string EventStory::amount(engine::Units length) const {
  return engine::amount(length, printable(unit_));
}

std::string EventStory::where(TrialNumber trial) {
  const auto found = reached_.find(trial);
  if (found == reached_.end()) {
    return "";
  }
  const Reached reached = found->second;
  reached_.erase(found);
  return " at " + amount(reached.step) + " with " + printable(metric_) + " " +
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

// --- experiments ---

Line EventStory::line_of(const engine::ExperimentCreated& /*event*/) {
  return {};
}

Line EventStory::line_of(const engine::ExperimentPaused& /*event*/) {
  paused_ = true;
  if (live_.empty()) {
    idle_from_ = now_;
  }
  return {"the experiment is paused"};
}

Line EventStory::line_of(const engine::ExperimentResumed& /*event*/) {
  paused_ = false;
  return {"the experiment is resumed"};
}

Line EventStory::line_of(const engine::ExperimentStopping& event) {
  return {"the experiment is ending" + after_colon(event.reason)};
}

Line EventStory::line_of(const engine::ExperimentEnded& event) {
  ended_ = true;
  return {"the experiment is " + lower(engine::name_of(event.state)) + after_colon(event.reason)};
}

Line EventStory::line_of(const engine::LimitsChanged& /*event*/) {
  return {};
}

// --- trials ---

Line EventStory::line_of(const engine::TrialCreated& event) {
  return {name_of(event.trial) + " created" + why_created(event.reason) + ", to train to " +
          amount(event.length) + ": " + printable(flat_text(event.hparams))};
}

Line EventStory::line_of(const engine::TrialPromoted& event) {
  const std::string place = where(event.trial);
  const std::string rank = event.reason.why == Reason::Why::promoted ? engine::describe_rank(event.reason)
                                                                     : engine::describe(event.reason);
  return {name_of(event.trial) + " promoted to " + amount(event.length) + (place.empty() ? "" : "," + place) +
          after_colon(rank)};
}

/// Shown together with what is decided about it.
Line EventStory::line_of(const engine::LengthReached& event) {
  reached_[event.trial] = {event.step, event.metric};
  return {};
}

Line EventStory::line_of(const engine::TrialPaused& event) {
  return {name_of(event.trial) + " paused" + where(event.trial) +
          after_colon(engine::describe(event.reason))};
}

Line EventStory::line_of(const engine::TrialQueued& event) {
  return {name_of(event.trial) + " waits for a slot to continue"};
}

/// The trial's end, which follows, gives the reason.
Line EventStory::line_of(const engine::TrialExitedEarly& /*event*/) {
  return {};
}

Line EventStory::line_of(const engine::TrialEnded& event) {
  return {name_of(event.trial) + " " + lower(engine::name_of(event.state)) + where(event.trial) +
              after_colon(engine::describe(event.reason)),
          event.state == engine::TrialState::failed};
}

// --- attempts ---

Line EventStory::line_of(const engine::LeaseGranted& event) {
  const Attempt attempt{event.trial.number(), event.attempt.number()};
  if (!event.others.empty()) {
    gangs_.insert(attempt);
  }
  begins(attempt);
  return {};
}

Line EventStory::line_of(const engine::AttemptStarted& event) {
  if (event.member != engine::WorkerId()) {
    return {};  // Its rank 0 stands for all.
  }
  const std::uint64_t attempt = event.key.attempt.number();
  return {name_of(event.key.trial) + " started" +
          (attempt > 1 ? " (attempt " + std::to_string(attempt) + ")" : "")};
}

Line EventStory::line_of(const engine::ReportTaken& event) {
  const std::string trial = name_of(event.key.trial);
  if (const auto* invalid = std::get_if<engine::InvalidHparamsReport>(&event.report)) {
    return {trial + " reports that its hyperparameters cannot work" + after_colon(invalid->why)};
  }
  if (const auto* exit = std::get_if<engine::ExitReport>(&event.report)) {
    const Attempt attempt{event.key.trial.number(), event.key.attempt.number()};
    if (!gangs_.contains(attempt)) {
      is_over(attempt);
    }
    return exit_line(*exit, trial + ", " + attempt_of(event.key));
  }
  return {};
}

Line EventStory::line_of(const engine::AttemptLost& event) {
  is_over({event.key.trial.number(), event.key.attempt.number()});
  return {name_of(event.key.trial) + " lost its " + attempt_of(event.key) + after_colon(event.why), true};
}

Line EventStory::line_of(const engine::AttemptAdopted& event) {
  begins({event.key.trial.number(), event.key.attempt.number()});
  return {name_of(event.key.trial) + " has its " + attempt_of(event.key) + " back, on " +
          name_of(event.worker)};
}

Line EventStory::line_of(const engine::AttemptDisowned& event) {
  return {name_of(event.worker) + " is to end its " + attempt_of(event.key) + " of " +
          name_of(event.key.trial) + ", which this store does not have; requested by an operator"};
}

Line EventStory::line_of(const engine::MemberExited& event) {
  return exit_line(event.exit,
                   name_of(event.key.trial) + ", on " + name_of(event.worker) + ", " + attempt_of(event.key));
}

Line EventStory::line_of(const engine::MemberLost& event) {
  return {name_of(event.key.trial) + " lost the part of " + attempt_of(event.key) + " on " +
              name_of(event.worker) + after_colon(event.why),
          true};
}

Line EventStory::line_of(const engine::GangEnded& event) {
  const Attempt attempt{event.key.trial.number(), event.key.attempt.number()};
  gangs_.erase(attempt);
  is_over(attempt);
  return {};
}

Line EventStory::line_of(const engine::StartDelayed& event) {
  const std::int64_t seconds = event.wait.in_micros() / 1'000'000;
  if (seconds <= 0) {
    return {};  // It goes on at once, which the next line shows.
  }
  return {name_of(event.trial) + " is tried again in " + std::to_string(seconds) + " s: its last " +
              counted(event.times, "attempt") + " came to nothing" + after_colon(event.why),
          true};
}

Line EventStory::line_of(const engine::CheckpointsCollected& event) {
  return {name_of(event.trial) + ": " + counted(event.paths.size(), "checkpoint") + " no longer needed"};
}

Line EventStory::line_of(const engine::CheckpointsDeleted& /*event*/) {
  return {};
}

// --- workers and the store ---

Line EventStory::line_of(const engine::WorkerJoined& event) {
  return {"worker " + printable(event.name) + " joined with " +
          counted(event.slots, printable(event.slot_kind) + " slot")};
}

Line EventStory::line_of(const engine::WorkerLost& event) {
  return {name_of(event.worker) + " left" + after_colon(event.why)};
}

Line EventStory::line_of(const engine::WorkerQuarantined& event) {
  return {name_of(event.worker) + " is in quarantine" + after_colon(event.why), true};
}

Line EventStory::line_of(const engine::WorkerReleased& event) {
  return {name_of(event.worker) + " is out of quarantine"};
}

Line EventStory::line_of(const engine::SlotsQuarantined& event) {
  return {slots_are(event.slots, event.worker) + " out of use: something of " + name_of(event.key.trial) +
              ", " + attempt_of(event.key) + ", survives SIGKILL",
          true};
}

Line EventStory::line_of(const engine::SlotsReleased& event) {
  return {"the slots of " + name_of(event.key.trial) + ", " + attempt_of(event.key) + ", on " +
          name_of(event.worker) + " are in use again" + (event.gone ? "" : "; requested by an operator")};
}

Line EventStory::line_of(const engine::SlotWithdrawn& event) {
  return {"slot " + std::to_string(event.slot.number()) + " of " + name_of(event.worker) + " is out of use" +
              after_colon(event.why),
          true};
}

Line EventStory::line_of(const engine::SlotRestored& event) {
  return {"slot " + std::to_string(event.slot.number()) + " of " + name_of(event.worker) +
          (event.healthy ? " is well again" : " is released: it is used nevertheless")};
}

Line EventStory::line_of(const engine::StoreRestored& /*event*/) {
  return {};
}

}  // namespace hpsearch::cli
