#pragma once

#include <filesystem>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/workers/core/launch/launch_environment.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"

namespace hpsearch::workers {

/// The sockets of an attempt; their paths are short, wherever its directory lies.
struct AttemptSockets {
  std::string report;
  std::string agent;
};

/// The result of preparing an attempt.
struct Prepared {
  engine::Status made = engine::Done{};
  bool outage = false;  ///< The storage of its checkpoints cannot be reached now: not counted as a failure.
  bool checkpoint_gone = false;  ///< Its checkpoint is missing or damaged, which may happen.
  int status = 0;                ///< As ProgramNotStarted::status.
};

/// Makes everything that an attempt's program finds: its directory with the context, its channels, the files
/// of its hyperparameters, and the order to its shim.
///
/// An output channel with a path lies in PATH/EXPERIMENT/TRIAL/ATTEMPT, and is seen through a link. Filled
/// beforehand, it begins as a copy of what the trial's last attempt before this one left there.
///
/// The context is what ContextCache has `unpacked`, or lies at spec.context_directory. Its requirements.txt
/// (if the experiment asks for it) and startup-hook.sh run first, in the program's own process and once for
/// each context and Python on this machine; what they leave lies below `setups`.
///
/// A checkpoint in an object store is fetched first.
///
/// not_found: the context, the checkpoint or an input is not there. unavailable: something of the machine is
/// wanting. wrong_state: an output's place belongs to another search. Cost: a copy of the context and of what
/// outputs are filled with; call it off the loop.
[[nodiscard]] Prepared prepare_attempt(const jobs::LaunchSpec& spec, const AttemptDirectory& directory,
                                       const LentMachine& machine, const AttemptSockets& sockets,
                                       const std::filesystem::path& setups,
                                       const std::filesystem::path* unpacked = nullptr);

/// unavailable: another process listens on the port of this machine where the attempt's processes would meet.
/// Attempts on one worker get a free port instead.
[[nodiscard]] engine::Status meeting_port_is_free(const jobs::LaunchSpec& spec);

}  // namespace hpsearch::workers
