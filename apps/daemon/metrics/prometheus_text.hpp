#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/metrics/histogram.hpp"

namespace hpsearch::daemon {

enum class MetricType : std::uint8_t { counter, gauge, histogram };

/// What a metric is, for the head of its samples and for docs/metrics.md.
struct MetricFamily {
  std::string name;  ///< Whole, with its prefix.
  MetricType type = MetricType::gauge;
  std::string help;                 ///< One line without backslashes.
  std::vector<std::string> labels;  ///< Names, in the order of the samples' values.
};

/// Metrics in Prometheus' text format, version 0.0.4: a family, then its samples. Names get the prefix
/// `hpsearch_`, except those that begin with `process_`, which all programs have.
class PrometheusText {
 public:
  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";
  using Labels = std::initializer_list<std::string_view>;

  void family(std::string_view name, MetricType type, std::string_view help, Labels labels = {});
  /// One of the family that was begun last, with a value for each of its labels.
  void sample(double value, Labels values = {});
  template <std::size_t N>
  void sample(const Histogram<N>& histogram, Labels values = {}) {
    buckets(histogram.bounds, histogram.counts, histogram.sum, values);
  }
  /// `counts` has one more than `bounds`: what is above all of them. Each counts its own bucket only.
  void buckets(std::span<const double> bounds, std::span<const std::uint64_t> counts, double sum,
               Labels values = {});

  /// A family with one sample.
  void counter(std::string_view name, std::string_view help, double value);
  void gauge(std::string_view name, std::string_view help, double value);

  [[nodiscard]] std::string take() { return std::move(text_); }
  /// Those that were begun, in their order.
  [[nodiscard]] const std::vector<MetricFamily>& families() const noexcept { return families_; }

 private:
  void line(std::string_view suffix, Labels values, std::string_view bound, std::string_view value);

  std::string text_;
  std::vector<MetricFamily> families_;
};

/// "counter", "gauge" or "histogram".
[[nodiscard]] std::string_view name_of(MetricType type) noexcept;

}  // namespace hpsearch::daemon
