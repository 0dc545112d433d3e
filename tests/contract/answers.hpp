#pragma once

#include <string>
#include <variant>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::contract {

/// One line that says all of an answer.
[[nodiscard]] inline std::string text_of(const engine::Reason& reason) {
  const auto shown = [](const auto& number) { return number ? std::to_string(*number) : std::string("-"); };
  return std::string(engine::name_of(reason.why)) + " bracket " + shown(reason.bracket) + " rung " +
         shown(reason.rung) + " rank " + shown(reason.rank) + " size " + shown(reason.size) + " keep " +
         shown(reason.keep) + " cutoff " + (reason.cutoff ? engine::python_float(*reason.cutoff) : "-") +
         (reason.value ? " value " + engine::python_float(*reason.value) : std::string()) + ' ' +
         reason.detail +
         (reason.expected ? " expected " + engine::python_float(reason.expected->mean) + " ± " +
                                engine::python_float(reason.expected->deviation)
                          : std::string());
}

[[nodiscard]] inline std::string text_of(const engine::Next& next) {
  struct Text {
    std::string operator()(const engine::CreateTrial& it) const {
      return "create " + std::to_string(it.trial.number()) + " to " +
             std::to_string(engine::count(it.length)) + ' ' + engine::compact_json(it.hparams) + ' ' +
             text_of(it.reason);
    }
    std::string operator()(const engine::PromoteTrial& it) const {
      return "promote " + std::to_string(it.trial.number()) + " to " +
             std::to_string(engine::count(it.length)) + ' ' + text_of(it.reason);
    }
    std::string operator()(const engine::NothingNow&) const { return "nothing now"; }
    std::string operator()(const engine::Finished& it) const {
      return "finished; problem: " + it.problem.value_or("none") + "; note: " + it.note;
    }
  };
  return std::visit(Text{}, next);
}

[[nodiscard]] inline std::string text_of(const engine::Verdict& verdict) {
  const char* actions[] = {"train on", "pause", "stop"};
  return std::string(actions[static_cast<int>(verdict.action)]) + " to " +
         std::to_string(engine::count(verdict.length)) + ' ' + text_of(verdict.reason);
}

/// What is said of a trial that waits.
[[nodiscard]] inline std::string text_of_waiting(const engine::Searcher& searcher,
                                                 engine::TrialNumber trial) {
  const engine::Outlook outlook = searcher.outlook(trial);
  return "trial " + std::to_string(trial.number()) + ' ' + text_of(searcher.standing(trial)) + ", ahead " +
         (outlook.ahead ? std::to_string(*outlook.ahead) : "-") + ", to come " +
         std::to_string(outlook.results_to_come);
}

}  // namespace hpsearch::contract
