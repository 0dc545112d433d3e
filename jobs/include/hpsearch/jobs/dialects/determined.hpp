#pragma once

#include <string_view>

#include "hpsearch/jobs/fields/engine_types.hpp"
#include "hpsearch/jobs/fields/program.hpp"

namespace hpsearch::jobs {

/// Name of the variable in which the trials of such an experiment get their whole experiment, as JSON.
inline constexpr const char* determined_config_variable = "DET_EXPERIMENT_CONFIG";

/// A Trial class, "model_def:MnistTrial": dotted names on both sides of one colon, nothing else.
[[nodiscard]] bool names_trial_class(std::string_view entrypoint) noexcept;

/// The program is written for the Determined Python harness: it is a Trial class, is started by one of the
/// harness's own modules ("python3 -m determined.launch…"), or `launch.kind` is "determined".
[[nodiscard]] bool needs_determined_harness(const Entrypoint& entrypoint, const Value* launch);

/// It is started by the one of the harness's launchers whose processes need no way from node to node but
/// their own sockets: determined.launch.torch_distributed. The others (Horovod, which starts a Trial class on
/// several slots, and DeepSpeed) reach the other nodes by ssh.
[[nodiscard]] bool meets_by_torch_distributed(const Entrypoint& entrypoint);

}  // namespace hpsearch::jobs
