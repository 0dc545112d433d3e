#pragma once

#include "daemon/core/runtime.hpp"
#include "daemon/metrics/workspace_names.hpp"
#include "hpsearch/proto/metrics/prometheus_text.hpp"

namespace hpsearch::daemon {

/// Slots in use by workspace and owner, and their limits. Without a runtime: the families only. Cost:
/// O(workspaces + owners that hold slots).
void add_quota_metrics(proto::PrometheusText& text, const Runtime* runtime, const WorkspaceNames& workspaces);

}  // namespace hpsearch::daemon
