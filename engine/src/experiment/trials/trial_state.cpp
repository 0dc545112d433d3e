#include "hpsearch/engine/experiment/trial_state.hpp"

#include <array>
#include <string>

namespace hpsearch::engine {
namespace {

constexpr std::array<std::string_view, 7> names = {"PENDING", "RUNNING", "PAUSED",  "COMPLETED",
                                                   "STOPPED", "FAILED",  "CANCELED"};
constexpr std::array<std::string_view, 9> moves = {"be leased",   "run again",   "be paused",
                                                   "be promoted", "complete",    "be stopped",
                                                   "fail",        "be canceled", "be retried"};

bool may(TrialState state, TrialMove move) {
  switch (move) {
    case TrialMove::lease:
      return state == TrialState::pending;
    case TrialMove::run_again:
      return state == TrialState::running || state == TrialState::paused || state == TrialState::canceled;
    case TrialMove::pause:
      return state == TrialState::running || state == TrialState::pending;
    case TrialMove::promote:
      return state == TrialState::running || state == TrialState::pending || state == TrialState::paused;
    case TrialMove::complete:
    case TrialMove::stop:
    case TrialMove::fail:
    case TrialMove::cancel:
      return !is_closed(state);
    case TrialMove::retry:
      return state == TrialState::failed;
  }
  return false;
}

TrialState after(TrialState state, TrialMove move) {
  switch (move) {
    case TrialMove::lease:
      return TrialState::running;
    case TrialMove::run_again:
    case TrialMove::retry:
      return TrialState::pending;
    case TrialMove::pause:
      return TrialState::paused;
    case TrialMove::promote:  // In place it keeps its slot.
      return state == TrialState::running ? TrialState::running : TrialState::pending;
    case TrialMove::complete:
      return TrialState::completed;
    case TrialMove::stop:
      return TrialState::stopped;
    case TrialMove::fail:
      return TrialState::failed;
    case TrialMove::cancel:
      return TrialState::canceled;
  }
  return state;
}

}  // namespace

Result<TrialState> next_state(TrialState state, TrialMove move) {
  if (!may(state, move)) {
    return Error{Errc::wrong_state, "a trial that is " + std::string(name_of(state)) + " cannot " +
                                        std::string(moves[static_cast<std::size_t>(move)])};
  }
  return after(state, move);
}

TrialMove move_that_ends(TrialState end) noexcept {
  switch (end) {
    case TrialState::completed:
      return TrialMove::complete;
    case TrialState::failed:
      return TrialMove::fail;
    case TrialState::canceled:
      return TrialMove::cancel;
    case TrialState::stopped:
    case TrialState::pending:
    case TrialState::running:
    case TrialState::paused:
      return TrialMove::stop;
  }
  return TrialMove::stop;
}

bool is_closed(TrialState state) noexcept {
  return state >= TrialState::completed;
}

std::string_view name_of(TrialState state) noexcept {
  return names[static_cast<std::size_t>(state)];
}

std::optional<TrialState> trial_state_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) {
      return static_cast<TrialState>(i);
    }
  }
  return std::nullopt;
}

}  // namespace hpsearch::engine
