#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hpsearch::daemon {

/// Metrics in Prometheus' text format, version 0.0.4. Names are without the prefix `hpsearch_`, which each
/// gets; helps are one line without backslashes.
class PrometheusText {
 public:
  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

  void gauge(std::string_view name, std::string_view help, double value);
  /// `counts` has one more than `bounds`: what is above all of them. Each counts its own bucket only.
  void histogram(std::string_view name, std::string_view help, std::span<const double> bounds,
                 std::span<const std::uint64_t> counts, double sum);

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void head(std::string_view name, std::string_view help, std::string_view type);
  void sample(std::string_view name, std::string_view suffix, std::string_view value);

  std::string text_;
};

}  // namespace hpsearch::daemon
