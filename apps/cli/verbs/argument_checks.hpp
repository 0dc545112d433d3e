#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class Validator;
}  // namespace CLI

namespace hpsearch::cli {

[[nodiscard]] std::string in_quotes(std::string_view text);

/// An integer in decimal digits, with any leading zeros: CLI11 would read 010 as 8 and -1 as 2^64 - 1. For
/// transform(), because it passes on the number that it read.
[[nodiscard]] CLI::Validator integer_from(std::uint64_t least, std::uint64_t most = UINT64_MAX);

[[nodiscard]] CLI::Validator not_empty();

/// One of these words.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words);

/// A number from `least` to `most`.
[[nodiscard]] CLI::Validator number_from(double least, double most);

/// Seconds: finite, and above 0 or at least 0.
[[nodiscard]] CLI::Validator seconds_above(bool zero_too);

}  // namespace hpsearch::cli
