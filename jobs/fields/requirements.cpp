#include "hpsearch/jobs/fields/requirements.hpp"

namespace hpsearch::jobs {

bool installs_requirements(const Program& program) {
  const Value* environment = program.other_sections.find("environment");
  const Value* requirements = environment != nullptr ? environment->at_path("requirements") : nullptr;
  return requirements != nullptr ? *requirements == Value("install")
                                 : program.contract.ml_layout && !program.needs_harness;
}

}  // namespace hpsearch::jobs
