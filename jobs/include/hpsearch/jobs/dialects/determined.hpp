#pragma once

#include <string_view>

#include "hpsearch/jobs/fields/engine_types.hpp"
#include "hpsearch/jobs/fields/program.hpp"

namespace hpsearch::jobs {

/// The variable in which the trials of such an experiment get the whole experiment, as JSON.
inline constexpr const char* determined_config_variable = "DET_EXPERIMENT_CONFIG";

/// Whether the text names a Trial class: "model_def:MnistTrial", dotted names on both sides of one colon.
[[nodiscard]] bool names_trial_class(std::string_view entrypoint) noexcept;

/// Whether the program is written for Determined's Python harness: it is a Trial class, one of the
/// harness's modules starts it ("python3 -m determined.launch…"), or `launch.kind` is "determined".
[[nodiscard]] bool needs_determined_harness(const Entrypoint& entrypoint, const Value* launch);

/// Whether determined.launch.torch_distributed starts the program. It is the only launcher of the harness
/// whose processes connect by their own sockets. The others (Horovod, which starts a Trial class on several
/// slots, and DeepSpeed) reach the other nodes by ssh.
[[nodiscard]] bool meets_by_torch_distributed(const Entrypoint& entrypoint);

}  // namespace hpsearch::jobs
