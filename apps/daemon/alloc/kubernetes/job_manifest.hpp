#pragma once

#include <cstdint>
#include <string>

#include "daemon/alloc/backend.hpp"
#include "daemon/alloc/kubernetes/pod_request.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon::kubernetes {

/// On Jobs, Secrets and pods.
inline constexpr const char* cluster_label = "hpsearch/cluster";
inline constexpr const char* queue_label = "hpsearch/queue";
/// On Jobs: the key of the allocation.
inline constexpr const char* key_annotation = "hpsearch/key";

/// Finds what belongs to this cluster: "app.kubernetes.io/managed-by=hpsearch,hpsearch/cluster=…".
[[nodiscard]] std::string label_selector(std::uint64_t cluster);

/// "hpsearch-gpu-17-0123abcd": the name of the allocation's Job and Secret. Numbers of allocations are never
/// used again, so no other allocation of the cluster has the name, although long names of queues are cut.
[[nodiscard]] std::string job_name(const JobMark& mark);

/// The Job of an order, whose arguments are `pod`: one pod for each worker.
///
/// A pod that has ended is never replaced: its state and its invite have ended with it, and the engine
/// decides whether trials need another worker. The other pods of the Job go on.
[[nodiscard]] engine::Value job_manifest(const JobOrder& order, const PodRequest& pod);

/// The invite of a Job. It is removed with the Job.
[[nodiscard]] engine::Value secret_manifest(const JobOrder& order, const std::string& job_uid,
                                            const std::string& invite);

}  // namespace hpsearch::daemon::kubernetes
