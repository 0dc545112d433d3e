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

/// What a metric is, for the head of its samples and for its documentation.
struct MetricFamily {
  std::string name;  ///< Whole, with its prefix.
  MetricType type = MetricType::gauge;
  std::string help;                 ///< One line without backslashes and quotes.
  std::vector<std::string> labels;  ///< Names, in the order of the samples' values.
};

/// One value that a bucket of a histogram counted, and the request that caused it.
struct Exemplar {
  std::string request;  ///< Its id; "" = there is none.
  double value = 0;
  double at = 0;  ///< Seconds since the epoch.
};

/// Metrics as Prometheus reads them: a family, then its samples. Names get the prefix `hpsearch_`, except
/// those that begin with `process_`, which all programs have.
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
  /// One of the family that was begun last, with a value for each of its labels.
  void sample(double value, Labels values = {});
  template <std::size_t N>
  void sample(const Histogram<N>& histogram, Labels values = {}) {
    buckets(histogram.bounds, histogram.counts, histogram.sum, values);
  }
  /// `counts` has one more than `bounds`: what is above all of them. Each counts its own bucket only.
  /// `exemplars` has one for each of `counts`, or none at all.
  void buckets(std::span<const double> bounds, std::span<const std::uint64_t> counts, double sum,
               Labels values = {}, std::span<const Exemplar> exemplars = {});

  /// A family with one sample.
  void counter(std::string_view name, std::string_view help, double value);
  void gauge(std::string_view name, std::string_view help, double value);

  /// The whole page; nothing can be added to it any more.
  [[nodiscard]] std::string take();
  /// Those that were begun, in their order.
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

/// The families as a table in Markdown, with what each means.
[[nodiscard]] std::string described(const PrometheusText& text);

}  // namespace hpsearch::proto
