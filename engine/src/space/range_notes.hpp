#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/parameter.hpp"

namespace hpsearch::engine {

/// A note about a group without `type` whose members are those of a range, as this or another product
/// spells one; nothing when it looks like a group of hyperparameters.
[[nodiscard]] std::optional<Problem> note_of_untyped_range(const Value::Map& group, std::string path);

/// Whether a map has a member that ranges have, as this or another product spells them.
[[nodiscard]] bool has_bounds_or_values(const Value::Map& group) noexcept;

/// A note about a `log` whose bounds look like values and not like exponents.
[[nodiscard]] std::optional<Problem> note_of_exponents(const LogParameter& parameter, std::string path);

}  // namespace hpsearch::engine
