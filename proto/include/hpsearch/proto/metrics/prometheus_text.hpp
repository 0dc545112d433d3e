#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/proto/metrics/histogram.hpp"

namespace hpsearch::proto {

enum class MetricType : std::uint8_t { counter, gauge, histogram };

/// The description of a metric, for its samples and for the documentation.
struct MetricFamily {
  std::string name;  ///< Complete, with the prefix.
  MetricType type = MetricType::gauge;
  std::string help;                 ///< One line without backslashes and quotes.
  std::vector<std::string> labels;  ///< Names, in the order of the values of samples.
};

/// A value in a bucket of a histogram, and the request that caused it.
struct Exemplar {
  std::string request;  ///< Its id; "" if there is none.
  double value = 0;
  double at = 0;  ///< Seconds since the epoch.
};

/// Metrics in the format of Prometheus: each family, followed by its samples. Names get the prefix
/// `hpsearch_`, except those of all programs, which begin with `process_`.
class PrometheusText {
 public:
  enum class Format : std::uint8_t {
    text,         ///< Version 0.0.4; it has no exemplars.
    openmetrics,  ///< OpenMetrics 1.0.
  };
  using Labels = std::initializer_list<std::string_view>;

  /// The format that the Accept header of a request asks for.
  [[nodiscard]] static Format format_for(std::string_view accept) noexcept;
  [[nodiscard]] static std::string_view content_type(Format format) noexcept;

  explicit PrometheusText(Format format = Format::text) : format_(format) {}

  void family(std::string_view name, MetricType type, std::string_view help, Labels labels = {});
  /// A sample of the family that was begun last, with a value for each of its labels.
  void sample(double value, Labels values = {});
  template <std::size_t N>
  void sample(const Histogram<N>& histogram, Labels values = {}) {
    buckets(histogram.bounds, histogram.counts, histogram.sum, values);
  }
  /// `counts` has one more item than `bounds`: the count of values above all of them. Counts aren't
  /// cumulative. `exemplars` has one item for each of `counts`, or none.
  void buckets(std::span<const double> bounds, std::span<const std::uint64_t> counts, double sum,
               Labels values = {}, std::span<const Exemplar> exemplars = {});

  /// A family with one sample.
  void counter(std::string_view name, std::string_view help, double value);
  void gauge(std::string_view name, std::string_view help, double value);

  /// The whole page. Nothing can be added afterwards.
  [[nodiscard]] std::string take();
  /// The families of the page, in order.
  [[nodiscard]] const std::vector<MetricFamily>& families() const noexcept { return families_; }
  [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }

 private:
  void line(std::string_view suffix, Labels values, std::string_view bound, std::string_view value,
            const Exemplar* exemplar = nullptr);

  Format format_;
  std::string text_;
  std::vector<MetricFamily> families_;
  std::uint64_t samples_ = 0;
};

/// "counter", "gauge" or "histogram".
[[nodiscard]] std::string_view name_of(MetricType type) noexcept;

/// The families as a table in Markdown, with their meaning.
[[nodiscard]] std::string described(const PrometheusText& text);

}  // namespace hpsearch::proto
