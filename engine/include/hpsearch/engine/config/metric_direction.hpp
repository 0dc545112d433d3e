#pragma once

#include <optional>
#include <string_view>

namespace hpsearch::engine {

/// Which direction the name of a metric suggests: true for "val_loss", false for "accuracy", nothing for a
/// name that says neither, or both.
[[nodiscard]] std::optional<bool> smaller_is_better_by_name(std::string_view metric);

}  // namespace hpsearch::engine
