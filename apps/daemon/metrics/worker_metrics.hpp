#pragma once

#include "daemon/metrics/pool_names.hpp"
#include "daemon/runtime.hpp"
#include "daemon/worker_sessions.hpp"
#include "hpsearch/proto/prometheus_text.hpp"

namespace hpsearch::daemon {

/// Workers, their slots, and what they exchange with the daemon. Without sources: the families alone.
/// Cost: O(workers).
void add_worker_metrics(proto::PrometheusText& text, const Runtime* runtime, const WorkerSessions* sessions,
                        const PoolNames& pools);

}  // namespace hpsearch::daemon
