#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/workers/core/launch/program_start.hpp"

namespace hpsearch::workers {

/// The variable with the modules that hpsearch.run_function imports ahead of its trial, separated by
/// commas.
inline constexpr const char* preload_variable = "HPSEARCH_PRELOAD";

/// With this variable set to "1", hpsearch.run_function runs as a spare.
inline constexpr std::string_view spare_variable = "HPSEARCH_SPARE";

/// The start of a spare that may run a later attempt of the experiment in the same slots, after `program`,
/// which runs this attempt. Has no mark. Nothing if there can be no spare: the experiment wants none, has no
/// slots, or its program is not a function of hpsearch.tune that is started directly.
[[nodiscard]] std::optional<ProgramStart> spare_after(const jobs::LaunchSpec& spec,
                                                      const ProgramStart& program);

/// Whether a process that was started as `spare` can become `program`: they differ only in the
/// directory and in variables that identify an attempt.
[[nodiscard]] bool fits(const ProgramStart& spare, const ProgramStart& program);

/// The bytes that turn the spare into `program`: the directory and each NAME=value, each with a zero byte.
[[nodiscard]] std::string handed_over(const ProgramStart& program);

}  // namespace hpsearch::workers
