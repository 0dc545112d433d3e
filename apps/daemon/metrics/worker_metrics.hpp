#pragma once

#include "daemon/core/runtime.hpp"
#include "daemon/metrics/pool_names.hpp"
#include "daemon/sessions/worker_sessions.hpp"
#include "hpsearch/proto/metrics/prometheus_text.hpp"

namespace hpsearch::daemon {

/// Workers, their slots, and their messages. Without sources: the families only. Cost: O(workers).
void add_worker_metrics(proto::PrometheusText& text, const Runtime* runtime, const WorkerSessions* sessions,
                        const PoolNames& pools);

}  // namespace hpsearch::daemon
