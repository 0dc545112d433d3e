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

/// Whether two names have the same words, of which some may be short for the other's: "Val acc" and
/// "validation_accuracy". Upper and lower case, and what stands between words, are the same.
[[nodiscard]] bool names_the_same_metric(std::string_view a, std::string_view b);

}  // namespace hpsearch::engine
