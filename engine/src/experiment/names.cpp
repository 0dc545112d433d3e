#include <array>

#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/attempt_span.hpp"
#include "hpsearch/engine/experiment/experiment_state.hpp"

namespace hpsearch::engine {
namespace {

constexpr std::array<std::string_view, 6> states = {"ACTIVE",    "PAUSED",   "STOPPING",
                                                    "COMPLETED", "CANCELED", "FAILED"};
constexpr std::array<std::string_view, 7> attempt_ends = {"finished", "paused",    "stopped", "failed",
                                                          "lost",     "preempted", "canceled"};
constexpr std::array<std::string_view, 4> directives = {"continue", "pause", "stop", "kill"};

template <class Enum, std::size_t n>
std::optional<Enum> named(const std::array<std::string_view, n>& names, std::string_view name) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    if (names[i] == name) {
      return static_cast<Enum>(i);
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_ended(ExperimentState state) noexcept {
  return state >= ExperimentState::completed;
}

std::string_view name_of(ExperimentState state) noexcept {
  return states[static_cast<std::size_t>(state)];
}

std::optional<ExperimentState> experiment_state_named(std::string_view name) noexcept {
  return named<ExperimentState>(states, name);
}

std::string_view name_of(AttemptEnd end) noexcept {
  return attempt_ends[static_cast<std::size_t>(end)];
}

std::string_view name_of(Directive directive) noexcept {
  return directives[static_cast<std::size_t>(directive)];
}

std::optional<Directive> directive_named(std::string_view name) noexcept {
  return named<Directive>(directives, name);
}

}  // namespace hpsearch::engine
