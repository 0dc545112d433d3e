#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// What {"class":"nan"|"+inf"|"-inf"} is read as.
enum class NonFinite : std::uint8_t {
  maps,   ///< The map that it is: what users write may look so.
  reals,  ///< The real that JSON cannot spell: for texts of metrics only.
};

/// Reads one JSON text. corrupt, "LINE:COLUMN: why": not JSON, a key that stands twice, a number out of
/// range, invalid UTF-8, anything after the value, or a limit passed. Integers that fit 64 bits stay
/// integers.
[[nodiscard]] engine::Result<engine::Value> parse_json(std::string_view text, const JsonLimits& limits = {},
                                                       NonFinite non_finite = NonFinite::maps);

/// The number that `value` is, or that it stands for as {"class":"nan"|"+inf"|"-inf"}. For values that are
/// metrics.
[[nodiscard]] std::optional<double> real_of(const engine::Value& value);

/// JSON over several lines, indented by two; engine::compact_json is the one-line form.
[[nodiscard]] std::string pretty_json(const engine::Value& value);

}  // namespace hpsearch::proto
