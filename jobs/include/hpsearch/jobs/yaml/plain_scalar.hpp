#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::yaml {

/// Why a plain scalar is refused: what it is, and what is allowed.
struct Refusal {
  std::string what;
  std::string allowed;
};

/// The meaning of an unquoted word in an experiment file: a boolean, an integer, a real, or text.
///
/// The core schema of YAML 1.2 (10.3.2), with single underscores between digits (50_000). The caller handles
/// null. `yes`, `no`, `on` and `off` are text: the engine reads them as booleans where it expects one, so
/// that a categorical value `no` never becomes `false`. Refused: .inf, .nan, and numbers that don't
/// fit.
[[nodiscard]] std::variant<engine::Value, Refusal> resolve_plain(std::string_view written);

}  // namespace hpsearch::yaml
