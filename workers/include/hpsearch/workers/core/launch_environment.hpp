#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/jobs/launch_spec.hpp"
#include "hpsearch/workers/core/attempt_places.hpp"

namespace hpsearch::workers {

/// What the worker's machine lends to programs.
struct LentMachine {
  std::uint64_t slots = 1;
  std::uint64_t cores = 1;
  std::vector<std::string> devices;  ///< CUDA names by slot; empty when slots are shares of the processors.
  std::map<std::string, std::string> environment;  ///< The worker's own, as it was started.
  std::string determined_host = {};                ///< The program hpsearch-determined; "" = there is none.
  std::string ranks_host = {};                     ///< The program hpsearch-ranks.
};

/// How a program is started, and the files it may read.
struct Launch {
  std::vector<std::string> argv;  ///< Never empty; argv[0] is looked up on the program's PATH.
  std::map<std::string, std::string> environment;
  std::string params_json;           ///< The parameters file.
  std::string hyperparameters_json;  ///< ml/input/config/hyperparameters.json
  std::string training_job_json;     ///< ml/input/config/training_job.json
  std::string hostfile;              ///< AttemptPlaces::hostfile; "" = none.
};

/// A variable of this name tells a program who it is: the worker's own ones of these names, which may itself
/// be somebody's job, are not its programs'.
[[nodiscard]] bool is_identity_variable(std::string_view name) noexcept;

/// The devices that the lease's slots are, by CUDA's names; none where slots are shares of the processors.
[[nodiscard]] std::vector<std::string> devices_lent(const jobs::LaunchSpec& spec, const LentMachine& machine);

/// Turns a lease into argv, environment and files. Later ones win: the worker's own environment (without what
/// tells a program who it is), thread counts, the experiment's variables, the job contract's
/// (docs/job-contract.md).
///
/// bad_request: an entrypoint that is empty or has a placeholder that names nothing; an argument or a
/// variable longer than the kernel takes.
[[nodiscard]] engine::Result<Launch> plan_launch(const jobs::LaunchSpec& spec, const AttemptPlaces& places,
                                                 const LentMachine& machine);

}  // namespace hpsearch::workers
