#pragma once

#include <string>

#include "daemon/metrics/http_counts.hpp"
#include "daemon/metrics/prometheus_text.hpp"
#include "daemon/runtime.hpp"
#include "daemon/worker_sessions.hpp"
#include "hpsearch/net/loop_lag.hpp"

namespace hpsearch::daemon {

/// Where the numbers come from; each may be none, then its families have no samples or are 0.
struct MetricsSources {
  std::string version;
  engine::Instant started{};
  const Runtime* runtime = nullptr;
  const WorkerSessions* sessions = nullptr;
  const HttpCounts* http = nullptr;
  net::LoopLag* lag = nullptr;  ///< Its longest turn is taken.
};

/// All metrics of the daemon. Families are there whether or not they have samples.
/// Cost: O(experiments + workers): trials and events are counted as they come.
[[nodiscard]] PrometheusText daemon_metrics(const MetricsSources& sources);

/// docs/metrics.md: what each family is, in Markdown.
[[nodiscard]] std::string describe_metrics();

}  // namespace hpsearch::daemon
