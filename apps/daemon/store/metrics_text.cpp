#include "daemon/store/metrics_text.hpp"

#include <charconv>
#include <limits>
#include <system_error>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::daemon {

std::string metrics_text(const engine::Metrics& metrics) {
  engine::Value::Map map;
  for (const auto& [name, number] : metrics) {
    map[name] = number;
  }
  return engine::compact_json(map);
}

std::optional<engine::Metrics> metrics_of(const std::string& text) {
  const auto value = proto::parse_json(text, {}, proto::NonFinite::reals);
  if (!value || value->as_map() == nullptr) {
    return std::nullopt;
  }
  engine::Metrics metrics;
  for (const auto& [name, number] : *value->as_map()) {
    if (!number.is_number()) {
      return std::nullopt;
    }
    metrics.emplace_back(name, number.number_or(0));
  }
  return metrics;
}

std::string metric_key(const std::string& name) {
  return engine::compact_json(name) + ":";
}

std::optional<double> number_in(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at == 0 || (text[at - 1] != '{' && text[at - 1] != ',')) {
      continue;
    }
    text.remove_prefix(at + key.size());
    double number = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc()) {
      return number;
    }
    constexpr double infinite = std::numeric_limits<double>::infinity();
    return text.starts_with(R"({"class":"-inf")")   ? -infinite
           : text.starts_with(R"({"class":"+inf")") ? infinite
                                                    : std::numeric_limits<double>::quiet_NaN();
  }
  return std::nullopt;
}

}  // namespace hpsearch::daemon
