#pragma once

#include "hpsearch/jobs/fields/program.hpp"

namespace hpsearch::jobs {

/// The environment variable of a program whose worker installs the context's requirements.txt before it
/// starts; it holds "install".
inline constexpr const char* requirements_variable = "HPSEARCH_REQUIREMENTS";

/// Whether it does: what `environment.requirements` says, or else PAI's layout (`layout: /ml`), which implies
/// it.
[[nodiscard]] bool installs_requirements(const Program& program);

}  // namespace hpsearch::jobs
