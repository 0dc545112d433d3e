#include "hpsearch/engine/base/digits.hpp"

#include <array>
#include <bit>

namespace hpsearch::engine {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 64;

constexpr std::array<std::uint8_t, 256> values = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(no_digit);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return table;
}();

constexpr int digits_of_a_real = 11;

}  // namespace

void DigitWriter::count(std::uint64_t number) {
  while (number >= 32) {
    text_ += alphabet[(number & 31U) | 32U];
    number >>= 5U;
  }
  text_ += alphabet[number];
}

void DigitWriter::integer(std::int64_t number) {
  // Zigzag: numbers near zero are short, whatever their sign.
  const auto bits = static_cast<std::uint64_t>(number);
  count((bits << 1U) ^ (number < 0 ? ~std::uint64_t{0} : 0));
}

void DigitWriter::real(double number) {
  auto bits = std::bit_cast<std::uint64_t>(number);
  for (int i = 0; i < digits_of_a_real; ++i) {
    text_ += alphabet[bits & 63U];
    bits >>= 6U;
  }
}

unsigned DigitReader::digit() noexcept {
  const std::uint8_t value = rest_.empty() ? no_digit : values[static_cast<unsigned char>(rest_.front())];
  if (value == no_digit) {
    good_ = false;
    rest_ = {};
    return 0;
  }
  rest_.remove_prefix(1);
  return value;
}

std::uint64_t DigitReader::count() noexcept {
  std::uint64_t number = 0;
  for (unsigned shift = 0; good_; shift += 5) {
    const std::uint64_t value = digit();
    const std::uint64_t part = value & 31U;
    if (shift >= 64 || (shift > 59 && (part >> (64 - shift)) != 0)) {
      good_ = false;
      return 0;
    }
    number |= part << shift;
    if ((value & 32U) == 0) {
      break;
    }
  }
  return good_ ? number : 0;
}

std::uint64_t DigitReader::count_below(std::uint64_t bound) noexcept {
  const std::uint64_t number = count();
  good_ = good_ && number < bound;
  return good_ ? number : 0;
}

std::int64_t DigitReader::integer() noexcept {
  const std::uint64_t zigzag = count();
  return static_cast<std::int64_t>((zigzag >> 1U) ^ ((zigzag & 1U) != 0 ? ~std::uint64_t{0} : 0));
}

double DigitReader::real() noexcept {
  std::uint64_t bits = 0;
  for (int i = 0; i < digits_of_a_real; ++i) {
    const std::uint64_t value = digit();
    if (i == digits_of_a_real - 1 && value >= 16) {
      good_ = false;
    }
    bits |= value << (6 * static_cast<unsigned>(i));
  }
  return good_ ? std::bit_cast<double>(bits) : 0;
}

}  // namespace hpsearch::engine
