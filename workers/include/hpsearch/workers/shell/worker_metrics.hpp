#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/slot_device.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/proto/metrics/histogram.hpp"
#include "hpsearch/proto/metrics/prometheus_text.hpp"
#include "hpsearch/workers/core/devices.hpp"
#include "hpsearch/workers/core/worker_status.hpp"

namespace hpsearch::workers {

/// How long moving files took, in seconds.
inline constexpr std::array<double, 9> transfer_bounds{0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 1800};

/// Counts of a worker besides its status.
struct TransferCounts {
  proto::Histogram<transfer_bounds.size()> checkpoints{transfer_bounds};  ///< Published ones.
  proto::Histogram<transfer_bounds.size()> contexts{transfer_bounds};     ///< Provided to attempts.
};

/// The sources of a worker's metrics.
struct WorkerMetricsSources {
  std::string version;
  std::string slot_kind;
  WorkerStatus status{};
  TransferCounts transfers{};
  std::uint64_t spool_bytes = 0;              ///< For all attempts.
  std::uint64_t journal_bytes = 0;            ///< For all attempts.
  std::vector<engine::SlotDevice> devices{};  ///< One per slot, or none.
  DeviceReport report{};                      ///< The latest report about them.
};

/// All metrics of a worker. Families without samples are included.
[[nodiscard]] proto::PrometheusText worker_metrics(const WorkerMetricsSources& sources,
                                                   proto::PrometheusText::Format format);

/// Serves them at GET /metrics of the address "HOST:PORT". unavailable: the address is in use.
[[nodiscard]] engine::Result<std::unique_ptr<net::HttpServer>> serve_worker_metrics(
    net::Loop& loop, const std::string& address, std::function<WorkerMetricsSources()> sources);

/// docs/metrics.md: the meaning of each family, in Markdown.
[[nodiscard]] std::string describe_worker_metrics();

}  // namespace hpsearch::workers
