#include "daemon/prometheus_text.hpp"

#include <cstddef>
#include <utility>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::string_view prefix = "hpsearch_";

std::string number(double value) {
  return engine::compact_json(engine::Value(value));
}

}  // namespace

void PrometheusText::gauge(std::string_view name, std::string_view help, double value) {
  head(name, help, "gauge");
  sample(name, "", number(value));
}

void PrometheusText::histogram(std::string_view name, std::string_view help, std::span<const double> bounds,
                               std::span<const std::uint64_t> counts, double sum) {
  head(name, help, "histogram");
  std::uint64_t up_to = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    up_to += counts[i];
    const std::string bound = i < bounds.size() ? number(bounds[i]) : "+Inf";
    sample(name, "_bucket{le=\"" + bound + "\"}", std::to_string(up_to));
  }
  sample(name, "_sum", number(sum));
  sample(name, "_count", std::to_string(up_to));
}

void PrometheusText::head(std::string_view name, std::string_view help, std::string_view type) {
  text_.append("# HELP ").append(prefix).append(name).append(" ").append(help).append("\n");
  text_.append("# TYPE ").append(prefix).append(name).append(" ").append(type).append("\n");
}

void PrometheusText::sample(std::string_view name, std::string_view suffix, std::string_view value) {
  text_.append(prefix).append(name).append(suffix).append(" ").append(value).append("\n");
}

}  // namespace hpsearch::daemon
