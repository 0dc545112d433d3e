#pragma once

#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/proto/wire/spell_attempt.hpp"

// Events list their fields themselves (events.hpp). Here are the words of the enums in them.

namespace hpsearch::proto {

template <>
struct Words<engine::ExperimentState> {
  static std::string_view of(engine::ExperimentState state) { return engine::name_of(state); }
  static std::optional<engine::ExperimentState> find(std::string_view word) {
    return engine::experiment_state_named(word);
  }
};

template <>
struct Words<engine::TrialState> {
  static std::string_view of(engine::TrialState state) { return engine::name_of(state); }
  static std::optional<engine::TrialState> find(std::string_view word) {
    return engine::trial_state_named(word);
  }
};

template <>
struct Words<engine::Reason::Why> {
  static std::string_view of(engine::Reason::Why why) { return engine::name_of(why); }
  static std::optional<engine::Reason::Why> find(std::string_view word) { return engine::why_named(word); }
};

template <>
struct Words<engine::ExitReason> {
  static std::string_view of(engine::ExitReason reason) { return engine::name_of(reason); }
  static std::optional<engine::ExitReason> find(std::string_view word) {
    return engine::exit_reason_named(word);
  }
};

}  // namespace hpsearch::proto
