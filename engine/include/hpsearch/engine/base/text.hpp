#pragma once

#include <string>
#include <string_view>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::engine {

/// The shortest decimal that reads back as the same double, laid out as Python's repr() does: "0.001",
/// "1e-05", "100000.0", "1e+16", "nan", "inf", "-inf". Independent of the locale.
[[nodiscard]] std::string python_float(double number);

/// The same with six significant digits, for eyes.
[[nodiscard]] std::string short_number(double number);

/// A value as Python's str() prints it: True, None, 1.0, text as it is; lists and maps as compact JSON.
[[nodiscard]] std::string python_text(const Value& value);

/// Compact JSON on one line, keys in order. Non-finite reals become {"class":"nan"|"+inf"|"-inf"}, which
/// JSON itself cannot spell. Writing only; reading is proto's.
[[nodiscard]] std::string compact_json(const Value& value);

/// What Python's json.dumps() prints: ", " and ": " between, whatever is not ASCII as \uXXXX, non-finite
/// reals as NaN and Infinity; keys in order.
[[nodiscard]] std::string python_json(const Value& value);

/// The one of `known` that a person most probably meant by `given` (edit distance of at most a third of its
/// length and one more), or "" when none is near.
template <class Range>
[[nodiscard]] std::string_view nearest(std::string_view given, const Range& known);

/// Number of single-letter edits (insert, delete, replace, swap of neighbours) from a to b.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

template <class Range>
std::string_view nearest(std::string_view given, const Range& known) {
  std::string_view best;
  constexpr std::size_t longest = 100;  // Longer names aren't typed; distances cost the product of lengths.
  if (given.size() > longest) {
    return best;
  }
  std::size_t best_distance = given.size() / 3 + 2;
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(given, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace hpsearch::engine
