#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::proto {

/// What one JSON text may cost us before we trust it.
struct JsonLimits {
  std::size_t bytes = 1024UL * 1024;
  std::size_t depth = 32;
  std::size_t nodes = 100'000;
};

/// Reads one JSON text. corrupt, "LINE:COLUMN: why": not JSON, a key that stands twice, a number out of
/// range, invalid UTF-8, anything after the value, or a limit passed. Integers that fit 64 bits stay
/// integers.
/// {"class":"nan"|"+inf"|"-inf"} reads as that real.
[[nodiscard]] engine::Result<engine::Value> parse_json(std::string_view text, const JsonLimits& limits = {});

/// JSON over several lines, indented by two; engine::compact_json is the one-line form.
[[nodiscard]] std::string pretty_json(const engine::Value& value);

}  // namespace hpsearch::proto
