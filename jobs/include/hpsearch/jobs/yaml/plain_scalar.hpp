#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::yaml {

/// Why a plain scalar cannot be taken: what it is, and what would be right.
struct Refusal {
  std::string what;
  std::string allowed;
};

/// What an unquoted word of an experiment file means: a boolean, an integer, a real, or text.
///
/// The core schema of YAML 1.2 (10.3.2), with single underscores between digits (50_000). Null is not seen
/// here. `yes`, `no`, `on` and `off` are text: the engine reads them as booleans where it expects one, so
/// that a categorical value `no` is never turned into `false`. Refused: .inf, .nan, and numbers that do not
/// fit.
[[nodiscard]] std::variant<engine::Value, Refusal> resolve_plain(std::string_view written);

}  // namespace hpsearch::yaml
