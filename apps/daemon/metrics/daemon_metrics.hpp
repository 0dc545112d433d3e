#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "daemon/core/runtime.hpp"
#include "daemon/metrics/http_counts.hpp"
#include "daemon/sessions/worker_sessions.hpp"
#include "hpsearch/io/net/loop_lag.hpp"
#include "hpsearch/proto/metrics/prometheus_text.hpp"

namespace hpsearch::daemon {

/// Where the numbers come from; each may be none, then its families have no samples or are 0.
struct MetricsSources {
  std::string version{};
  const Runtime* runtime = nullptr;
  const WorkerSessions* sessions = nullptr;
  const HttpCounts* http = nullptr;
  net::LoopLag* lag = nullptr;                   ///< Its longest turn is taken.
  std::size_t subscribers = 0;                   ///< Event streams that are open.
  std::optional<engine::Duration> backup_age{};  ///< Of the newest good one.
  std::size_t named_experiments = 50;            ///< Experiments with metrics of their own, at most.
};

/// All metrics of the daemon. Families are there whether or not they have samples.
/// Cost: O(experiments + workers): trials and events are counted as they come.
[[nodiscard]] proto::PrometheusText daemon_metrics(
    const MetricsSources& sources,
    proto::PrometheusText::Format format = proto::PrometheusText::Format::text);

/// docs/metrics.md: what each family is, in Markdown.
[[nodiscard]] std::string describe_metrics();

}  // namespace hpsearch::daemon
