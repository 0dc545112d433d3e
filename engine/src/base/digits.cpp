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

constexpr std::size_t digits_of_a_real = 11;

}  // namespace

void DigitWriter::count(std::uint64_t number) {
  while (number >= 32) {
    text_ += alphabet[(number & 31U) | 32U];
    number >>= 5U;
  }
  text_ += alphabet[number];
}

void DigitWriter::wide(WideCount number) {
  for (; number >= 32; number >>= 5U) {
    text_ += alphabet[static_cast<std::size_t>(number & 31U) | 32U];
  }
  text_ += alphabet[static_cast<std::size_t>(number)];
}

void DigitWriter::real(double number) {
  auto bits = std::bit_cast<std::uint64_t>(number);
  std::array<char, digits_of_a_real> digits{};
  for (char& digit : digits) {
    digit = alphabet[bits & 63U];
    bits >>= 6U;
  }
  text_.append(digits.data(), digits.size());
}

void DigitReader::spoil() noexcept {
  good_ = false;
  rest_ = {};
}

std::uint64_t DigitReader::count() noexcept {
  std::uint64_t number = 0;
  std::size_t taken = 0;
  for (unsigned shift = 0; taken < rest_.size(); shift += 5) {
    const std::uint64_t value = values[static_cast<unsigned char>(rest_[taken++])];
    const std::uint64_t part = value & 31U;
    if (value == no_digit || shift >= 64 || (shift > 59 && (part >> (64 - shift)) != 0)) {
      break;
    }
    number |= part << shift;
    if ((value & 32U) == 0) {
      rest_.remove_prefix(taken);
      return number;
    }
  }
  spoil();
  return 0;
}

std::uint64_t DigitReader::count_below(std::uint64_t bound) noexcept {
  const std::uint64_t number = count();
  if (number >= bound) {
    spoil();
    return 0;
  }
  return number;
}

WideCount DigitReader::wide() noexcept {
  WideCount number = 0;
  std::size_t taken = 0;
  for (unsigned shift = 0; taken < rest_.size() && shift <= 125; shift += 5) {
    const std::uint64_t value = values[static_cast<unsigned char>(rest_[taken++])];
    if (value == no_digit) {
      break;
    }
    number |= static_cast<WideCount>(value & 31U) << shift;
    if ((value & 32U) == 0) {
      rest_.remove_prefix(taken);
      return number;
    }
  }
  spoil();
  return 0;
}

double DigitReader::real() noexcept {
  if (rest_.size() < digits_of_a_real) {
    spoil();
    return 0;
  }
  std::uint64_t bits = 0;
  std::uint64_t seen = 0;  // no_digit is a bit that no digit has.
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < digits_of_a_real; ++i) {
    last = values[static_cast<unsigned char>(rest_[i])];
    seen |= last;
    bits |= last << (6 * i);
  }
  if ((seen & no_digit) != 0 || last >= 16) {
    spoil();
    return 0;
  }
  rest_.remove_prefix(digits_of_a_real);
  return std::bit_cast<double>(bits);
}

}  // namespace hpsearch::engine
