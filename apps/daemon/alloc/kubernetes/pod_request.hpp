#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon::kubernetes {

/// The pod that a queue asks for: its arguments, after they were checked.
struct PodRequest {
  std::string image{};   ///< Instead of that of the template; "" = that one.
  std::string worker{};  ///< The program in the image, as "hpsearch-worker".
  std::optional<std::uint64_t> gpus{};
  std::string gpu_resource{};
  std::string cpu{};     ///< A quantity, as "8"; "" = not set.
  std::string memory{};  ///< A quantity, as "64Gi"; "" = not set.
  std::string kueue_queue{};
  std::string scheduler{};
  engine::Value::Map pod_template{};  ///< A PodTemplateSpec without fields that the queue sets.
};

/// Reads the arguments of a queue. bad_request: the argument, its value and what is allowed.
[[nodiscard]] engine::Result<PodRequest> read_pod_request(const std::vector<std::string>& arguments);

/// Slots of a worker with that request if the queue does not say: "auto" where the worker counts GPUs, else
/// the whole CPUs of the pod, because a worker sees those of the whole node.
[[nodiscard]] std::string usual_slots(const PodRequest& request);

}  // namespace hpsearch::daemon::kubernetes
