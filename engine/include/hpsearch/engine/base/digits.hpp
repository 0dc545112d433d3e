#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace hpsearch::engine {

/// Numbers of either sign as counts, small ones near zero: 0, -1, 1, -2, … become 0, 1, 2, 3, …
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t number) noexcept {
  return (static_cast<std::uint64_t>(number) << 1U) ^ (number < 0 ? ~std::uint64_t{0} : 0);
}
[[nodiscard]] constexpr std::int64_t unzigzag(std::uint64_t folded) noexcept {
  return static_cast<std::int64_t>((folded >> 1U) ^ ((folded & 1U) != 0 ? ~std::uint64_t{0} : 0));
}

/// A count that may need more than 64 bits, such as the size of a space.
__extension__ typedef unsigned __int128 WideCount;

/// Long columns of numbers as printable text: what saved states are made of, so that a million rows are one
/// string and not a million lists.
///
/// A count is written base 64 with the lowest five bits first and the sixth bit saying that more follow (the
/// variable-length quantities of MIDI files and source maps); small numbers take one character. A real takes
/// eleven, bit for bit.
class DigitWriter {
 public:
  void count(std::uint64_t number);
  void wide(WideCount number);  ///< A small one reads as a count, too.
  void integer(std::int64_t number) { count(zigzag(number)); }
  void real(double number);
  void flag(bool value) { count(value ? 1 : 0); }

  [[nodiscard]] std::string take() { return std::exchange(text_, std::string()); }

 private:
  std::string text_;
};

/// Reads what a DigitWriter wrote, in the same order. Anything else makes it bad, once and for all: it then
/// gives zeros.
class DigitReader {
 public:
  /// The text outlives the reader.
  explicit DigitReader(std::string_view text) noexcept : rest_(text) {}

  [[nodiscard]] std::uint64_t count() noexcept;
  [[nodiscard]] std::uint64_t count_below(std::uint64_t bound) noexcept;
  [[nodiscard]] WideCount wide() noexcept;  ///< Below 2^126.
  [[nodiscard]] std::int64_t integer() noexcept { return unzigzag(count()); }
  [[nodiscard]] double real() noexcept;
  [[nodiscard]] bool flag() noexcept { return count_below(2) == 1; }

  [[nodiscard]] bool good() const noexcept { return good_; }
  /// Nothing is left, or nothing that can be read.
  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }
  /// Good, and nothing is left.
  [[nodiscard]] bool finished() const noexcept { return good_ && rest_.empty(); }

 private:
  void spoil() noexcept;

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace hpsearch::engine
