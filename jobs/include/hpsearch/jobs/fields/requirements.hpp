#pragma once

#include "hpsearch/jobs/fields/program.hpp"

namespace hpsearch::jobs {

/// Whether a worker installs the context's requirements.txt before it starts the program.
/// `environment.requirements` decides; by default only PAI's layout (`layout: /ml`) implies it.
[[nodiscard]] bool installs_requirements(const Program& program);

}  // namespace hpsearch::jobs
