#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hpsearch::patterns {

/// A pattern for `metrics` that reads `metric` from lines like this one: the line has the metric's name, or
/// one with the same words ("Val acc" for validation_accuracy), and then a number. The pattern has a
/// {step} if an epoch, a step or an iteration is before it. It matches the line. Nothing if there is no such
/// number, or if the line has more than 512 bytes. Pure. Cost: linear in the line's length.
[[nodiscard]] std::optional<std::string> suggested_pattern(std::string_view line, std::string_view metric);

}  // namespace hpsearch::patterns
