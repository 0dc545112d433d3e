#pragma once

#include <vector>

#include "daemon/alloc/backend.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon::kubernetes {

/// Lists of the API, as it answers.
struct Listed {
  engine::Value::List jobs{};
  engine::Value::List pods{};
  engine::Value::List events{};
};

/// Whether events could say why a Job has no pod, or a pod does not start: they are listed only then.
[[nodiscard]] bool needs_events(const Listed& listed);

/// The Jobs that carry a key. Fields that are missing or of another kind say nothing.
[[nodiscard]] std::vector<BackendJob> read_jobs(const Listed& listed);

/// The names of the Job's pods.
[[nodiscard]] std::vector<std::string> pods_of_job(const engine::Value::List& pods, const std::string& job);

}  // namespace hpsearch::daemon::kubernetes
