#pragma once

#include <cstddef>

#include "daemon/core/runtime.hpp"
#include "daemon/metrics/pool_names.hpp"
#include "daemon/metrics/workspace_names.hpp"
#include "hpsearch/proto/metrics/prometheus_text.hpp"

namespace hpsearch::daemon {

/// Experiments, trials, attempts, reports and their outcomes. Without a runtime: the families only. At most
/// `named` experiments have metrics of their own. Cost: O(experiments).
void add_search_metrics(proto::PrometheusText& text, const Runtime* runtime, const PoolNames& pools,
                        const WorkspaceNames& workspaces, std::size_t named);

}  // namespace hpsearch::daemon
