#pragma once

#include <cstddef>
#include <cstdint>
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
  net::LoopLag* lag = nullptr;                           ///< Its longest turn is read.
  std::size_t subscribers = 0;                           ///< Number of open event streams.
  std::optional<engine::Duration> backup_age{};          ///< Age of the newest good backup.
  std::uint64_t backup_failures = 0;                     ///< Scheduled backups that failed.
  std::optional<engine::Duration> certificate_left{};    ///< Until the TLS certificate expires.
  std::optional<engine::Duration> token_left{};          ///< Until the next token expires.
  std::uint64_t audit_failures = 0;                      ///< Entries of the audit log that were not written.
  std::optional<std::uint64_t> checkpoint_free_bytes{};  ///< Where the daemon stores checkpoints.
  std::uint64_t undeleted_checkpoints = 0;               ///< The last try could not delete them.
  std::size_t named_experiments = 50;  ///< Largest number of experiments with metrics of their own.
};

/// All metrics of the daemon. Families are listed even without samples. Cost: O(experiments + slots of
/// workers): trials and events are counted as they happen.
[[nodiscard]] proto::PrometheusText daemon_metrics(
    const MetricsSources& sources,
    proto::PrometheusText::Format format = proto::PrometheusText::Format::text);

/// docs/metrics.md: describes each family, in Markdown.
[[nodiscard]] std::string describe_metrics();

}  // namespace hpsearch::daemon
