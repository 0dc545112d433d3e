#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::engine {

/// Where a trial is in its life.
///
///     pending --lease--> running --reached its length--> paused --promote--> pending
///        ^                  |  \--closed-by-the-searcher--> completed | stopped
///        \---run-again------/   \--program failed for good--> failed
///     any of the first three --the experiment ends--> canceled --it is reopened--> pending
///     failed --a user wants it once more--> pending
enum class TrialState : std::uint8_t {
  pending,    ///< Has work to do and no slot.
  running,    ///< An attempt holds its lease.
  paused,     ///< Waits at a rung, or for the user to resume.
  completed,  ///< Trained to the maximum length.
  stopped,    ///< Ended by the searcher, or by its own program, before the maximum length.
  failed,     ///< Its program failed for good.
  canceled,   ///< Ended with its experiment, by a user.
};

/// The changes of state of a trial.
enum class TrialMove : std::uint8_t { lease, run_again, pause, promote, complete, stop, fail, cancel, retry };

/// The state that follows, or why the move is impossible there. Pure.
[[nodiscard]] Result<TrialState> next_state(TrialState state, TrialMove move);

/// The move by which a trial ends so; whatever is no end counts as stopped.
[[nodiscard]] TrialMove move_that_ends(TrialState end) noexcept;

/// True for completed, stopped, failed and canceled.
[[nodiscard]] bool is_closed(TrialState state) noexcept;

/// "PENDING", "RUNNING", … as users see it.
[[nodiscard]] std::string_view name_of(TrialState state) noexcept;
[[nodiscard]] std::optional<TrialState> trial_state_named(std::string_view name) noexcept;

}  // namespace hpsearch::engine
