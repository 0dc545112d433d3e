#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::proto {

/// Limits for one JSON text, which is untrusted.
struct JsonLimits {
  std::size_t bytes = 1024UL * 1024;
  std::size_t depth = 32;
  std::size_t nodes = 100'000;
};

/// How {"class":"nan"|"+inf"|"-inf"} is read.
enum class NonFinite : std::uint8_t {
  maps,   ///< As a map, because users may write one with this content.
  reals,  ///< As the real that JSON can't spell: only for texts with metrics.
};

/// Reads one JSON text. corrupt, "LINE:COLUMN: why": not JSON, a duplicate key, a number out of
/// range, invalid UTF-8, anything after the value, or a limit exceeded. Integers that fit 64 bits stay
/// integers.
[[nodiscard]] engine::Result<engine::Value> parse_json(std::string_view text, const JsonLimits& limits = {},
                                                       NonFinite non_finite = NonFinite::maps);

/// The value as a number; {"class":"nan"|"+inf"|"-inf"} stands for one, too. For values of metrics
/// only.
[[nodiscard]] std::optional<double> real_of(const engine::Value& value);

/// JSON on several lines, indented by two; engine::compact_json is the one-line form.
[[nodiscard]] std::string pretty_json(const engine::Value& value);

}  // namespace hpsearch::proto
