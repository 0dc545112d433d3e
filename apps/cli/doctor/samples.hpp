#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace hpsearch::cli {

/// The samples of a text in Prometheus' format: {`NAME{LABELS}`: value}. Lines that are none are left out.
[[nodiscard]] std::map<std::string, double> samples_of(std::string_view text);

/// The value of a sample without labels.
[[nodiscard]] std::optional<double> sample(const std::map<std::string, double>& samples,
                                           const std::string& name);

/// The sum of all samples of a metric, whatever its labels.
[[nodiscard]] double sum_of(const std::map<std::string, double>& samples, const std::string& name);

/// The upper bound of the bucket with that share of a histogram without labels: 0.99 for its 99th percentile.
/// Infinite if that is the last bucket; null if there is no observation.
[[nodiscard]] std::optional<double> quantile(const std::map<std::string, double>& samples,
                                             const std::string& name, double share);

}  // namespace hpsearch::cli
