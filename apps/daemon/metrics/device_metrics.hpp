#pragma once

#include "daemon/core/runtime.hpp"
#include "daemon/sessions/worker_sessions.hpp"
#include "hpsearch/proto/metrics/prometheus_text.hpp"

namespace hpsearch::daemon {

/// The devices of all workers that are not lost, by kind of slot, and what running attempts use of them.
/// Without sources: the families only. Cost: O(slots of these workers).
void add_device_metrics(proto::PrometheusText& text, const Runtime* runtime, const WorkerSessions* sessions);

}  // namespace hpsearch::daemon
