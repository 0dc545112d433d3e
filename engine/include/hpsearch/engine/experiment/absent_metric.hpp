#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hpsearch::engine {

/// `reported "acc", "val_loss"; the search's metric is "valid_loss" (did you mean "val_loss"?)`. Names the
/// first eight.
[[nodiscard]] std::string absent_metric_text(std::span<const std::string_view> reported,
                                             std::string_view metric);

/// The reported name that is most likely the wanted one; "": none is near.
[[nodiscard]] std::string_view meant_metric(std::span<const std::string_view> reported,
                                            std::string_view metric);

}  // namespace hpsearch::engine
