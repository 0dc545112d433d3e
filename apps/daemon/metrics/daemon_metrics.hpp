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

/// Sources of the numbers; if one is null, its families have no samples or are 0.
struct MetricsSources {
  std::string version{};
  const Runtime* runtime = nullptr;
  const WorkerSessions* sessions = nullptr;
  const HttpCounts* http = nullptr;
  net::LoopLag* lag = nullptr;                   ///< Its longest turn is read.
  std::size_t subscribers = 0;                   ///< Number of open event streams.
  std::optional<engine::Duration> backup_age{};  ///< Age of the newest good backup.
  std::size_t named_experiments = 50;            ///< Largest number of experiments with metrics of their own.
};

/// All metrics of the daemon. Families are listed even without samples. Cost: O(experiments + workers):
/// trials and events are counted as they happen.
[[nodiscard]] proto::PrometheusText daemon_metrics(
    const MetricsSources& sources,
    proto::PrometheusText::Format format = proto::PrometheusText::Format::text);

/// docs/metrics.md: describes each family, in Markdown.
[[nodiscard]] std::string describe_metrics();

}  // namespace hpsearch::daemon
