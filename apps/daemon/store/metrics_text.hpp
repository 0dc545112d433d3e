#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::daemon {

/// A report's metrics as the store keeps them beside the log: JSON that reads back as the same doubles.
[[nodiscard]] std::string metrics_text(const engine::Metrics& metrics);

/// Reverts metrics_text(). Null: damaged.
[[nodiscard]] std::optional<engine::Metrics> metrics_of(const std::string& text);

/// The name of a metric as metrics_text() has it in front of its number.
[[nodiscard]] std::string metric_key(const std::string& name);

/// One number of metrics_text(), without reading the others; null: that metric is missing. `key` is its
/// metric_key().
[[nodiscard]] std::optional<double> number_in(std::string_view text, std::string_view key);

}  // namespace hpsearch::daemon
