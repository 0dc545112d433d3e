#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace re2 {
class RE2;
}

namespace hpsearch::patterns {

/// The longest pattern, in bytes. Real ones have a few hundred.
inline constexpr std::size_t most_pattern_bytes = 1024;

/// A metric's pattern with its placeholders expanded: {number} is a group `value` for a number as
/// programs print it, {step} a group `step` for a whole number. After a backslash they stand for
/// themselves.
[[nodiscard]] std::string metric_expression(const std::string& pattern);

/// Compiles a user's pattern; RE2::ok() is false if it can't be used. A pattern of at most most_pattern_bytes
/// takes at most about 25 ms.
[[nodiscard]] std::unique_ptr<const re2::RE2> compile_expression(const std::string& pattern);

}  // namespace hpsearch::patterns
