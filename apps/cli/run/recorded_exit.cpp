#include "cli/run/recorded_exit.hpp"

#include <string>
#include <string_view>

#include "cli/render/text.hpp"

namespace hpsearch::cli {

using engine::ExitReason;
using engine::Value;
using engine::sim::RecordedExit;

namespace {

/// The program's part of a detail that the engine wrote.
std::string said(std::string detail) {
  constexpr std::string_view invalid = "invalid hyperparameters";
  constexpr std::string_view why = ": ";
  if (detail.starts_with(invalid)) {
    detail.erase(0, invalid.size());
    detail.erase(0, detail.starts_with(why) ? why.size() : 0);
  }
  return detail;
}

bool is_exit(const Value& event) {
  const std::string type = text_at(event, "type");
  return type == "member_exited" || type == "gang_ended" ||
         (type == "report_taken" && text_at(member(event, "report"), "type") == "exit");
}

bool ended_well(const Value& exit) {
  return text_at(exit, "type") == "exit" && text_at(exit, "cause") == "exited" && count_at(exit, "code") == 0;
}

}  // namespace

std::optional<RecordedExit> recorded_exit(const Value::List& history, engine::Units reached) {
  const Value* exit = nullptr;  // The program's exit, if nothing else happened since.
  bool waits = false;
  for (const Value& event : history) {
    const std::string type = text_at(event, "type");
    if (is_exit(event)) {
      exit = &event;
      continue;
    }
    if (type == "length_reached" && member(event, "ended") == Value(true)) {
      RecordedExit recorded;
      recorded.at = reached;
      recorded.reason = ExitReason::user_stopped;
      recorded.by_itself = true;
      return recorded;
    }
    if (type == "trial_exited_early") {
      const auto reason = engine::exit_reason_named(text_at(event, "exit"));
      if (!reason) {
        return std::nullopt;
      }
      RecordedExit recorded;
      recorded.at = reached;
      recorded.reason = *reason;
      recorded.detail =
          *reason == ExitReason::invalid_hp ? said(text_at(event, "detail")) : text_at(event, "detail");
      const bool of_program = exit != nullptr && !waits;
      recorded.by_itself =
          of_program && (*reason == ExitReason::user_stopped ||
                         (*reason == ExitReason::errored && ended_well(member(*exit, "report"))));
      if (waits) {
        recorded.waiting_until = 0;
      }
      return recorded;
    }
    exit = nullptr;
    if (type == "trial_paused") {
      waits = text_at(member(event, "reason"), "why") == "waits_at_rung";
    } else if (type == "trial_promoted" || type == "trial_queued") {
      waits = false;
    }
  }
  return std::nullopt;
}

}  // namespace hpsearch::cli
