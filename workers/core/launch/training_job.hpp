#pragma once

#include <string>
#include <vector>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/workers/core/launch/attempt_places.hpp"
#include "hpsearch/workers/core/launch/launch_environment.hpp"

namespace hpsearch::workers {

/// training_job.json (docs/job-contract.md). `argv` is that of the entrypoint itself.
[[nodiscard]] std::string training_job(const jobs::LaunchSpec& spec, const AttemptPlaces& places,
                                       const LentMachine& machine, const std::vector<std::string>& argv,
                                       const engine::Value& hparams);

}  // namespace hpsearch::workers
