#include "daemon/metrics/prometheus_text.hpp"

#include <cmath>
#include <cstddef>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::string_view prefix = "hpsearch_";
constexpr std::string_view of_every_program = "process_";
constexpr double largest_exact = 9007199254740992;  // 2^53: above it, not every whole number is a double.

std::string number(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value > 0 ? "+Inf" : "-Inf";
  }
  if (value == std::trunc(value) && std::abs(value) < largest_exact) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  return engine::compact_json(engine::Value(value));
}

/// Between the quotes of a label's value.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char byte : text) {
    if (byte == '\n') {
      result += "\\n";
      continue;
    }
    if (byte == '"' || byte == '\\') {
      result += '\\';
    }
    result += byte;
  }
  return result;
}

}  // namespace

std::string_view name_of(MetricType type) noexcept {
  switch (type) {
    case MetricType::counter:
      return "counter";
    case MetricType::gauge:
      return "gauge";
    case MetricType::histogram:
      return "histogram";
  }
  return "untyped";
}

void PrometheusText::family(std::string_view name, MetricType type, std::string_view help, Labels labels) {
  MetricFamily family{std::string(name.starts_with(of_every_program) ? "" : prefix).append(name),
                      type,
                      std::string(help),
                      {}};
  for (const std::string_view label : labels) {
    family.labels.emplace_back(label);
  }
  text_.append("# HELP ").append(family.name).append(" ").append(help).append("\n");
  text_.append("# TYPE ").append(family.name).append(" ").append(name_of(type)).append("\n");
  families_.push_back(std::move(family));
}

void PrometheusText::sample(double value, Labels values) {
  line("", values, "", number(value));
}

void PrometheusText::buckets(std::span<const double> bounds, std::span<const std::uint64_t> counts,
                             double sum, Labels values) {
  std::uint64_t up_to = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    up_to += counts[i];
    line("_bucket", values, i < bounds.size() ? number(bounds[i]) : "+Inf", std::to_string(up_to));
  }
  line("_sum", values, "", number(sum));
  line("_count", values, "", std::to_string(up_to));
}

void PrometheusText::counter(std::string_view name, std::string_view help, double value) {
  family(name, MetricType::counter, help);
  sample(value);
}

void PrometheusText::gauge(std::string_view name, std::string_view help, double value) {
  family(name, MetricType::gauge, help);
  sample(value);
}

void PrometheusText::line(std::string_view suffix, Labels values, std::string_view bound,
                          std::string_view value) {
  const MetricFamily& family = families_.back();
  HPSEARCH_CHECK(values.size() == family.labels.size(), "a sample has one value per label");
  std::string labels;
  std::size_t place = 0;
  for (const std::string_view of_label : values) {
    labels.append(labels.empty() ? "" : ",").append(family.labels[place++]);
    labels.append("=\"").append(escaped(of_label)).append("\"");
  }
  if (!bound.empty()) {
    labels.append(labels.empty() ? "" : ",").append("le=\"").append(bound).append("\"");
  }
  text_.append(family.name).append(suffix);
  if (!labels.empty()) {
    text_.append("{").append(labels).append("}");
  }
  text_.append(" ").append(value).append("\n");
}

}  // namespace hpsearch::daemon
