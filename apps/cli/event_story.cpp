#include "cli/event_story.hpp"

#include <algorithm>
#include <utility>

#include "cli/shapes.hpp"
#include "cli/text.hpp"
#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

std::string with_reason(const std::string& reason) {
  return reason.empty() ? "" : ": " + reason;
}

/// " in bracket 1, in place of a trial with invalid hyperparameters"; nothing of a plain new trial of a
/// search that has no brackets.
std::string why_created(const Value& reason) {
  std::string text;
  if (member(reason, "bracket").is_number()) {
    text += " in bracket " + std::to_string(count_at(reason, "bracket"));
  }
  if (const auto why = engine::why_named(text_at(reason, "why"));
      why && *why != engine::Reason::Why::new_trial) {
    engine::Reason alone;
    alone.why = *why;
    alone.detail = text_at(reason, "detail");
    text += ", " + printable(engine::describe(alone));
  }
  return text;
}

/// "HH:MM:SS  ".
std::string clock_of(const Value& event) {
  const std::string time = time_text(number_at(event, "at"));
  return time.size() < 8 ? std::string() : time.substr(time.size() - 8) + "  ";
}

/// "slot 3 of worker 2 is", "slots 0, 3 of worker 2 are"
std::string slots_are(const Value& event) {
  const Value::List& slots = list_at(event, "slots");
  std::string text = slots.size() == 1 ? "slot " : "slots ";
  for (std::size_t i = 0; i < slots.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(static_cast<std::uint64_t>(slots[i].number_or(0)));
  }
  return text + " of worker " + std::to_string(count_at(event, "worker")) +
         (slots.size() == 1 ? " is" : " are");
}

}  // namespace

std::string EventStory::where(std::uint64_t trial) {
  const auto found = reached_.find(trial);
  if (found == reached_.end()) {
    return "";
  }
  const Reached reached = found->second;
  reached_.erase(found);
  return " at " + engine::amount(engine::Units{reached.step}, printable(unit_)) + " with " +
         printable(metric_) + " " + (reached.metric ? metric_text(*reached.metric) : "missing");
}

void EventStory::keep_time(const std::string& type, const Value& event) {
  const double at = number_at(event, "at");
  const Attempt attempt{count_at(event, "trial"), count_at(event, "attempt")};
  const auto attempt_is_over = [&] {
    live_.erase(attempt);
    if (paused_ && live_.empty()) {
      idle_from_ = at;
    }
  };
  if (type == "lease_granted" || type == "attempt_adopted") {
    live_.insert(attempt);
    if (!list_at(event, "others").empty()) {
      gangs_.insert(attempt);  // Over when its last member is gone.
    }
    if (idle_from_) {
      idle_seconds_ += std::max(0.0, at - *idle_from_);
      idle_from_.reset();
    }
  } else if (type == "gang_ended") {
    gangs_.erase(attempt);
    attempt_is_over();
  } else if (type == "attempt_lost" || (!gangs_.contains(attempt) && type == "report_taken" &&
                                        text_at(member(event, "report"), "type") == "exit")) {
    attempt_is_over();
  } else if (type == "experiment_paused") {
    paused_ = true;
    if (live_.empty()) {
      idle_from_ = at;
    }
  } else if (type == "experiment_resumed") {
    paused_ = false;
  } else if (type == "experiment_ended") {
    ended_ = true;
  }
}

EventStory::Line EventStory::exit_line(const Value& event, const char* name, const std::string& trial) const {
  const Value& report = member(event, name);
  const std::string cause = text_at(report, "cause");
  const std::uint64_t code = count_at(report, "code");
  if (cause == "ended_by_agent" || (cause == "exited" && code == 0)) {
    return {};
  }
  std::string text = trial + ", attempt " + std::to_string(count_at(event, "attempt")) + ": ";
  if (const std::string message = text_at(report, "message"); !message.empty()) {
    text += printable(message);
  } else if (cause == "signaled") {
    text += "its program was ended by signal " + std::to_string(code);
  } else {
    text += "its program ended with exit status " + std::to_string(code);
  }
  return {text, true};
}

EventStory::Line EventStory::tell(const Value& event) {
  const std::string type = text_at(event, "type");
  keep_time(type, event);
  const std::uint64_t number = count_at(event, "trial");
  const std::string trial = "trial " + std::to_string(number);
  const std::string reason = reason_text(member(event, "reason"));
  const std::string length = engine::amount(engine::Units{count_at(event, "length")}, printable(unit_));
  Line line;
  if (type == "trial_created") {
    line.text = trial + " created" + why_created(member(event, "reason")) + ", to train to " + length + ": " +
                printable(flat_text(member(event, "hparams")));
  } else if (type == "attempt_started") {
    const std::uint64_t attempt = count_at(event, "attempt");
    if (count_at(event, "member") > 0) {
      return {};  // Its rank 0 says it for all.
    }
    line.text = trial + " started" + (attempt > 1 ? " (attempt " + std::to_string(attempt) + ")" : "");
  } else if (type == "length_reached") {
    Reached& reached = reached_[number];
    reached.step = count_at(event, "step");
    reached.metric.reset();
    if (const Value& metric = member(event, "metric"); metric.is_number()) {
      reached.metric = metric.number_or(0);
    }
    return {};  // Told together with what is decided about it.
  } else if (type == "trial_promoted") {
    const std::string_view said = "promoted; ";
    const std::string place = where(number);
    line.text = trial + " promoted to " + length + (place.empty() ? "" : "," + place) +
                with_reason(reason.starts_with(said) ? reason.substr(said.size()) : reason);
  } else if (type == "trial_paused") {
    line.text = trial + " paused" + where(number) + with_reason(reason);
  } else if (type == "trial_queued") {
    line.text = trial + " waits for a slot to go on";
  } else if (type == "trial_ended") {
    const std::string state = text_at(event, "state");
    line = {trial + " " + lower(state) + where(number) + with_reason(reason), state == "FAILED"};
  } else if (type == "report_taken" && text_at(member(event, "report"), "type") == "exit") {
    line = exit_line(event, "report", trial);
  } else if (type == "report_taken" &&
             text_at(member(event, "report"), "type") == "invalid_hyperparameters") {
    line.text = trial + " says its hyperparameters cannot work" +
                with_reason(printable(text_at(member(event, "report"), "why")));
  } else if (type == "checkpoints_collected") {
    line.text = trial + ": " + counted(list_at(event, "paths").size(), "checkpoint") + " no longer needed";
  } else if (type == "attempt_lost") {
    line = {trial + " lost its attempt " + std::to_string(count_at(event, "attempt")) +
                with_reason(printable(text_at(event, "why"))),
            true};
  } else if (type == "start_delayed") {
    const std::uint64_t wait = count_at(event, "wait_ms") / 1'000;
    if (wait == 0) {
      return {};  // It goes on at once, which the next line says.
    }
    line = {trial + " is tried again in " + std::to_string(wait) + " s: its last " +
                counted(count_at(event, "times"), "attempt") + " came to nothing" +
                with_reason(printable(text_at(event, "why"))),
            true};
  } else if (type == "member_lost") {
    line = {trial + " lost the part of attempt " + std::to_string(count_at(event, "attempt")) +
                " on worker " + std::to_string(count_at(event, "worker")) +
                with_reason(printable(text_at(event, "why"))),
            true};
  } else if (type == "member_exited") {
    line = exit_line(event, "exit", trial + ", on worker " + std::to_string(count_at(event, "worker")));
  } else if (type == "attempt_adopted") {
    line.text = trial + " has its attempt " + std::to_string(count_at(event, "attempt")) +
                " back, on worker " + std::to_string(count_at(event, "worker"));
  } else if (type == "attempt_disowned") {
    line.text = "worker " + std::to_string(count_at(event, "worker")) + " is to end its attempt " +
                std::to_string(count_at(event, "attempt")) + " of " + trial +
                ", which this store does not know, at an operator's word";
  } else if (type == "worker_quarantined") {
    line = {"worker " + std::to_string(count_at(event, "worker")) + " is in quarantine" +
                with_reason(printable(text_at(event, "why"))),
            true};
  } else if (type == "worker_released") {
    line.text = "worker " + std::to_string(count_at(event, "worker")) + " is out of quarantine";
  } else if (type == "slot_withdrawn") {
    line = {"slot " + std::to_string(count_at(event, "slot")) + " of worker " +
                std::to_string(count_at(event, "worker")) + " is out of use" +
                with_reason(printable(text_at(event, "why"))),
            true};
  } else if (type == "slot_restored") {
    const bool* healthy = member(event, "healthy").as_bool();
    line.text = "slot " + std::to_string(count_at(event, "slot")) + " of worker " +
                std::to_string(count_at(event, "worker")) +
                (healthy != nullptr && *healthy ? " is well again" : " is released: it is used nevertheless");
  } else if (type == "slots_quarantined") {
    line = {slots_are(event) + " out of use: something of " + trial + ", attempt " +
                std::to_string(count_at(event, "attempt")) + ", survives SIGKILL",
            true};
  } else if (type == "slots_released") {
    line.text = "the slots of " + trial + ", attempt " + std::to_string(count_at(event, "attempt")) +
                ", on worker " + std::to_string(count_at(event, "worker")) + " are in use again" +
                (member(event, "gone") == Value(true) ? "" : ", at an operator's word");
  } else if (type == "worker_joined") {
    line.text = "worker " + printable(text_at(event, "name")) + " joined with " +
                counted(count_at(event, "slots"), text_at(event, "slot_kind") + " slot");
  } else if (type == "worker_lost") {
    line.text = "worker " + std::to_string(count_at(event, "worker")) + " left" +
                with_reason(printable(text_at(event, "why")));
  } else if (type == "experiment_paused") {
    line.text = "the experiment is paused";
  } else if (type == "experiment_resumed") {
    line.text = "the experiment goes on";
  } else if (type == "experiment_stopping") {
    line.text = "the experiment is ending" + with_reason(printable(text_at(event, "reason")));
  } else if (type == "experiment_ended") {
    line.text = "the experiment is " + lower(text_at(event, "state")) +
                with_reason(printable(text_at(event, "reason")));
  }
  if (!line.text.empty()) {
    line.text = clock_of(event) + line.text;
  }
  return line;
}

}  // namespace hpsearch::cli
