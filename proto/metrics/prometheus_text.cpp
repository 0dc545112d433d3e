#include "hpsearch/proto/metrics/prometheus_text.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::proto {
namespace {

constexpr std::string_view prefix = "hpsearch_";
constexpr std::string_view of_every_program = "process_";
constexpr std::string_view of_counters = "_total";
constexpr std::array<std::string_view, 3> units{"_seconds", "_bytes", "_ratio"};
constexpr double largest_exact =
    9007199254740992;  // 2^53: above it, a double can't represent every whole number.

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

/// Seconds since the epoch, to the millisecond.
std::string fixed_millis(double seconds) {
  const auto millis = static_cast<std::int64_t>(seconds * 1000);
  const std::string part = std::to_string(millis % 1000);
  return std::to_string(millis / 1000) + "." + std::string(3 - part.size(), '0') + part;
}

/// Escapes the value of a label, which is in quotes.
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

PrometheusText::Format PrometheusText::format_for(std::string_view accept) noexcept {
  return accept.find("application/openmetrics-text") == std::string_view::npos ? Format::text
                                                                               : Format::openmetrics;
}

std::string_view PrometheusText::content_type(Format format) noexcept {
  return format == Format::text ? "text/plain; version=0.0.4; charset=utf-8"
                                : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

void PrometheusText::family(std::string_view name, MetricType type, std::string_view help, Labels labels) {
  MetricFamily family{std::string(name.starts_with(of_every_program) ? "" : prefix).append(name),
                      type,
                      std::string(help),
                      {}};
  for (const std::string_view label : labels) {
    family.labels.emplace_back(label);
  }
  // In OpenMetrics the family of a counter lacks the suffix that its samples have.
  std::string_view head = family.name;
  if (format_ == Format::openmetrics && type == MetricType::counter && head.ends_with(of_counters)) {
    head.remove_suffix(of_counters.size());
  }
  text_.append("# HELP ").append(head).append(" ").append(help).append("\n");
  text_.append("# TYPE ").append(head).append(" ").append(name_of(type)).append("\n");
  if (format_ == Format::openmetrics) {
    for (const std::string_view unit : units) {
      if (head.ends_with(unit)) {
        text_.append("# UNIT ").append(head).append(" ").append(unit.substr(1)).append("\n");
      }
    }
  }
  families_.push_back(std::move(family));
}

void PrometheusText::sample(double value, Labels values) {
  line("", values, "", number(value));
}

void PrometheusText::buckets(std::span<const double> bounds, std::span<const std::uint64_t> counts,
                             double sum, Labels values, std::span<const Exemplar> exemplars) {
  std::uint64_t up_to = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    up_to += counts[i];
    std::string bound = i < bounds.size() ? number(bounds[i]) : "+Inf";
    if (format_ == Format::openmetrics && bound.find_first_not_of("0123456789") == std::string::npos) {
      bound += ".0";  // The canonical form of a whole number.
    }
    line("_bucket", values, bound, std::to_string(up_to), i < exemplars.size() ? &exemplars[i] : nullptr);
  }
  line("_sum", values, "", number(sum));
  line("_count", values, "", std::to_string(up_to));
}

std::string PrometheusText::take() {
  if (format_ == Format::openmetrics) {
    text_.append("# EOF\n");
  }
  return std::move(text_);
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
                          std::string_view value, const Exemplar* exemplar) {
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
  text_.append(" ").append(value);
  if (format_ == Format::openmetrics && exemplar != nullptr && !exemplar->request.empty()) {
    text_.append(" # {request_id=\"").append(escaped(exemplar->request)).append("\"} ");
    text_.append(number(exemplar->value)).append(" ").append(fixed_millis(exemplar->at));
  }
  text_.append("\n");
  ++samples_;
}

std::string described(const PrometheusText& text) {
  std::string table =
      "| metric | type | labels | meaning |\n"
      "|---|---|---|---|\n";
  for (const MetricFamily& family : text.families()) {
    table.append("| `").append(family.name).append("` | ").append(name_of(family.type)).append(" | ");
    for (std::size_t i = 0; i < family.labels.size(); ++i) {
      table.append(i == 0 ? "" : ", ").append(family.labels[i]);
    }
    table.append(" | ").append(family.help).append(" |\n");
  }
  return table;
}

}  // namespace hpsearch::proto
