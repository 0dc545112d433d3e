#pragma once

#include <optional>
#include <string>

#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/workers/core/effects.hpp"

namespace hpsearch::workers {

/// The known facts about the end of an attempt.
struct AttemptEnd {
  std::optional<ProgramEnded> program;      ///< How its first process ended.
  std::optional<std::string> lost_because;  ///< Why the end was not seen, if so.
  std::string node_failure;                 ///< Why the machine caused the end, or "".
  std::string standstill;                   ///< Why `no_progress`, if its steps did not grow; or "".
  std::string stuck_because;                ///< Why `leaked_processes`.
  std::string paused_because;               ///< Why its worker paused it without a decision, or "".
  std::string lost_checkpoint;              ///< Why its last checkpoint was not published, or "".
  bool no_progress = false;                 ///< It is being ended because it made no progress.
  bool ended_here = false;                  ///< Its worker ends it without a decision.
  bool signaled_by_us = false;              ///< An agent sent it a signal.
  bool leaked_processes = false;            ///< It has ended, but some of its processes survive SIGKILL.
};

/// The report of the end. `kill_decided`: the daemon decided to kill the attempt.
[[nodiscard]] engine::ExitReport exit_report(const AttemptEnd& end, bool kill_decided,
                                             const jobs::LaunchSpec& spec);

}  // namespace hpsearch::workers
