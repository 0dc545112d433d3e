#pragma once

#include <string>
#include <string_view>

#include "hpsearch/engine/base/units.hpp"

namespace hpsearch::engine {

/// How much training, in an experiment's unit: "1 epoch", "3 epochs", "2 batches"; without a unit the number
/// alone.
[[nodiscard]] inline std::string amount(Units length, std::string_view unit) {
  std::string text = std::to_string(count(length));
  if (unit.empty()) {
    return text;
  }
  if (count(length) == 1) {
    unit = unit == "epochs" ? "epoch" : unit == "batches" ? "batch" : unit == "records" ? "record" : unit;
  }
  return text.append(" ").append(unit);
}

}  // namespace hpsearch::engine
