#pragma once

#include "hpsearch/proto/metrics/prometheus_text.hpp"

namespace hpsearch::daemon {

/// The families that Prometheus' client libraries have for every process: start, processor time, memory, file
/// descriptors. Read from /proc.
void add_process_metrics(proto::PrometheusText& text);

}  // namespace hpsearch::daemon
