#pragma once

#include "hpsearch/jobs/fields/program.hpp"

namespace hpsearch::jobs {

/// Whether a worker installs the context's requirements.txt before it starts the program: what
/// `environment.requirements` says, or else PAI's layout (`layout: /ml`), which implies it.
[[nodiscard]] bool installs_requirements(const Program& program);

}  // namespace hpsearch::jobs
