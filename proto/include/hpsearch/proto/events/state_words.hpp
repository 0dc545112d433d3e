#pragma once

#include <optional>
#include <string_view>

#include "hpsearch/engine/experiment/experiment_state.hpp"
#include "hpsearch/engine/experiment/trial_state.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::proto {

template <>
struct Words<engine::ExperimentState> {
  static constexpr engine::ExperimentState last = engine::ExperimentState::failed;
  static std::string_view of(engine::ExperimentState state) { return engine::name_of(state); }
  static std::optional<engine::ExperimentState> find(std::string_view word) {
    return engine::experiment_state_named(word);
  }
};

template <>
struct Words<engine::TrialState> {
  static constexpr engine::TrialState last = engine::TrialState::canceled;
  static std::string_view of(engine::TrialState state) { return engine::name_of(state); }
  static std::optional<engine::TrialState> find(std::string_view word) {
    return engine::trial_state_named(word);
  }
};

template <>
struct Words<engine::Reason::Why> {
  static constexpr engine::Reason::Why last = engine::Reason::Why::experiment_end;
  static std::string_view of(engine::Reason::Why why) { return engine::name_of(why); }
  static std::optional<engine::Reason::Why> find(std::string_view word) { return engine::why_named(word); }
};

}  // namespace hpsearch::proto
