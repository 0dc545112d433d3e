#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/workers/core/launch/program_start.hpp"

namespace hpsearch::workers {

/// The variable with the modules that hpsearch.run_function imports ahead of its trial, with commas between
/// them.
inline constexpr const char* preload_variable = "HPSEARCH_PRELOAD";

/// The variable, "1", by which hpsearch.run_function knows that it is a spare.
inline constexpr std::string_view spare_variable = "HPSEARCH_SPARE";

/// How a spare is started that may run a later attempt of the experiment in the same slots, after `program`,
/// which runs this one. Without a mark. Nothing where there can be none: the experiment wants none, has no
/// slots, or its program is not a function of hpsearch.tune, started without anything before it.
[[nodiscard]] std::optional<ProgramStart> spare_after(const jobs::LaunchSpec& spec,
                                                      const ProgramStart& program);

/// Whether a process that was started as `spare` can become `program`: they differ in nothing but the
/// directory, and variables that identify an attempt.
[[nodiscard]] bool fits(const ProgramStart& spare, const ProgramStart& program);

/// The bytes that make the spare `program`: the directory and each NAME=value, with a zero byte after each.
[[nodiscard]] std::string handed_over(const ProgramStart& program);

}  // namespace hpsearch::workers
