#include "hpsearch/proto/sentences/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::sentences {
namespace {

using engine::Value;

/// A whole real keeps its point and a zero its sign, because 1.0 and 1 are two configurations.
std::string real_text(double real) {
  const bool whole = std::isfinite(real) && real == std::trunc(real) && std::abs(real) < 1e6;
  return whole ? engine::python_float(real) : metric_text(real);
}

/// Whether the text without quotes would be read as another value, or as two.
bool needs_quotes(const std::string& text) {
  constexpr std::array<std::string_view, 6> words{"true", "false", "none", "null", "nan", "inf"};
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error != std::errc::invalid_argument && end == text.data() + text.size();
  return text.empty() || is_number || text.find(' ') != std::string::npos ||
         std::find(words.begin(), words.end(), lower) != words.end();
}

void append_flat(const Value& value, const std::string& path, std::string& out) {
  if (const Value::Map* map = value.as_map(); map != nullptr && (!map->empty() || path.empty())) {
    for (const auto& [key, inner] : *map) {
      append_flat(inner, path.empty() ? key : path + "." + key, out);
    }
    return;
  }
  if (!out.empty()) {
    out += ' ';
  }
  if (const double* real = value.as_real()) {
    out += path + "=" + real_text(*real);
  } else if (const std::string* text = value.as_text(); text != nullptr && needs_quotes(*text)) {
    out += path + "=" + engine::compact_json(value);
  } else {
    out += path + "=" + engine::python_text(value);
  }
}

}  // namespace

std::string counted(std::uint64_t number, std::string_view noun) {
  return std::to_string(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

std::string amount(engine::Units length, std::string_view unit, Language language) {
  if (language == Language::chinese) {
    unit = unit == "epochs" ? "轮" : unit == "batches" ? "批" : unit == "records" ? "条记录" : unit;
  }
  return engine::amount(length, unit);
}

std::string seconds_text(engine::Duration duration) {
  return std::to_string((duration.in_micros() + 999'999) / 1'000'000) + " s";
}

std::string metric_text(double metric) {
  if (std::isnan(metric)) {
    return "nan";
  }
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.6g", metric + 0.0);  // No minus before a 0.
  return buffer;
}

std::string flat_text(const Value& hparams) {
  std::string out;
  append_flat(hparams, "", out);
  return out;
}

}  // namespace hpsearch::sentences
