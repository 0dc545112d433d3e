#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/jobs/fields/engine_types.hpp"

namespace hpsearch::jobs {

/// Equal pods of a job.
struct PodGroup {
  std::string role;  ///< Master, Worker, node; the name of their place in the job.
  std::int64_t pods = 1;
  Value pod_template;  ///< A PodTemplateSpec.
};

/// A job of Kubernetes that runs one trial: a Job, a job of Kubeflow's training operator, a TrainJob, or any
/// other resource that has pod templates.
struct TrialJob {
  std::string kind;                   ///< "PyTorchJob".
  Value spec;                         ///< The job's own `spec`.
  std::vector<PodGroup> groups = {};  ///< The first trains. Empty if the job has no container.
  Value container = {};               ///< The container of groups[0] that trains.
  std::string runtime = {};  ///< The runtime of a TrainJob, which has the rest of the pod; otherwise "".
};

/// Finds the container with the name `primary`. If pods of several roles have one, those of `role` (in any
/// case) are preferred, then launchers, masters and chiefs. The container is null if none has the name.
[[nodiscard]] TrialJob trial_job(const Value& job, std::string_view primary, std::string_view role);

/// A TrainJob, whose trainer is its container.
[[nodiscard]] TrialJob train_job(const Value& spec);

/// The names of all containers, for messages: "a, b".
[[nodiscard]] std::string container_names(const TrialJob& job);

/// "1 Master and 2 Worker"
[[nodiscard]] std::string counted_pods(const TrialJob& job);

/// The accelerators of a container: 2 for `nvidia.com/gpu: 2`; 0 if it has none.
[[nodiscard]] std::int64_t accelerators_of(const Value& container);

/// The pod as a template for workers: without what the trial alone needs, or hpsearch sets itself.
[[nodiscard]] Value pod_template_of(const TrialJob& job);

}  // namespace hpsearch::jobs
