#pragma once

#include <filesystem>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/workers/core/launch/launch_environment.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"

namespace hpsearch::workers {

/// The sockets of an attempt; their paths are short even if its directory's isn't.
struct AttemptSockets {
  std::string report;
  std::string agent;
};

/// The result of preparing an attempt.
struct Prepared {
  engine::Status made = engine::Done{};
  bool outage = false;           ///< The storage of its checkpoints is unreachable now: this is no failure.
  bool checkpoint_gone = false;  ///< Its checkpoint is missing or damaged, which the trial can recover from.
  int status = 0;                ///< As in ProgramNotStarted::status.
};

/// Makes everything that an attempt's program needs: its directory with the context, its channels, the files
/// with its hyperparameters, and the launch order for its shim.
///
/// An output channel with a path is in PATH/EXPERIMENT/TRIAL/ATTEMPT, and is seen through a link. With
/// pre_download, it begins as a copy of the output of the trial's previous attempt there.
///
/// The context is `unpacked` by ContextCache, or is at spec.context_directory. Its requirements.txt
/// (if the experiment wants it) and startup-hook.sh run first, in the program's own process and once for
/// each context and Python on this machine; their results are below `setups`.
///
/// A checkpoint in an object store is fetched first.
///
/// not_found: the context, the checkpoint or an input doesn't exist. unavailable: the machine lacks
/// something. wrong_state: an output's place belongs to another search. Cost: a copy of the context and of
/// pre-downloaded outputs; don't call it on the loop.
[[nodiscard]] Prepared prepare_attempt(const jobs::LaunchSpec& spec, const AttemptDirectory& directory,
                                       const LentMachine& machine, const AttemptSockets& sockets,
                                       const std::filesystem::path& setups,
                                       const std::filesystem::path* unpacked = nullptr);

/// unavailable: another process uses the port of this machine at which the attempt's processes would connect.
/// Attempts on one worker get a free port instead.
[[nodiscard]] engine::Status meeting_port_is_free(const jobs::LaunchSpec& spec);

}  // namespace hpsearch::workers
