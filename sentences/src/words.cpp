#include "hpsearch/sentences/words.hpp"

#include <cmath>
#include <cstdio>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::sentences {
namespace {

using engine::Value;

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
    out += path + "=" + metric_text(*real);
  } else if (const std::string* text = value.as_text();
             text != nullptr && (text->empty() || text->find(' ') != std::string::npos)) {
    out += path + "=" + engine::compact_json(value);  // In quotes, to separate it from the next one.
  } else {
    out += path + "=" + engine::python_text(value);
  }
}

}  // namespace

std::string counted(std::uint64_t number, std::string_view noun) {
  return std::to_string(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
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
