#include "hpsearch/jobs/fields/requirements.hpp"

namespace hpsearch::jobs {

bool installs_requirements(const Program& program) {
  const std::string& requirements = program.environment.requirements;
  return requirements.empty() ? program.ml_layout && !program.needs_harness : requirements == "install";
}

}  // namespace hpsearch::jobs
