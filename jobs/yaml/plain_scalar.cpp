#include "hpsearch/jobs/yaml/plain_scalar.hpp"

#include <charconv>
#include <cstdint>

#include "hpsearch/engine/base/digits.hpp"
#include "yaml/shortened.hpp"

namespace hpsearch::yaml {
namespace {

using engine::Value;

constexpr std::size_t most_shown = 60;

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// Consumes digits, which single underscores may group; false if there is none.
template <class IsDigit>
bool take_digits(std::string_view& text, std::string& digits, IsDigit wanted) {
  if (text.empty() || !wanted(text.front())) {
    return false;
  }
  while (!text.empty()) {
    if (wanted(text.front())) {
      digits += text.front();
      text.remove_prefix(1);
    } else if (text.size() >= 2 && text.front() == '_' && wanted(text[1])) {
      text.remove_prefix(1);
    } else {
      break;
    }
  }
  return true;
}

std::variant<Value, Refusal> integer(std::string_view written, const std::string& digits, int base) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (error != std::errc()) {
    return Refusal{"is " + shortened(written, most_shown) + ", which does not fit 64 bits",
                   "an integer of at most 9223372036854775807; quoted if it is text"};
  }
  return Value(number);
}

}  // namespace

std::variant<Value, Refusal> resolve_plain(std::string_view written) {
  for (const std::string_view word : {"true", "True", "TRUE"}) {
    if (written == word) {
      return Value(true);
    }
  }
  for (const std::string_view word : {"false", "False", "FALSE"}) {
    if (written == word) {
      return Value(false);
    }
  }
  for (const std::string_view word : {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf",
                                      "-.INF", ".nan", ".NaN", ".NAN"}) {
    if (written == word) {
      return Refusal{"is " + std::string(written), "a finite number; quoted if it is text"};
    }
  }
  std::string digits;
  if (written.starts_with("0x") || written.starts_with("0o")) {
    const int base = written[1] == 'x' ? 16 : 8;
    std::string_view rest = written.substr(2);
    const bool any = take_digits(rest, digits, [base](char c) {
      return base == 16 ? is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')
                        : c >= '0' && c <= '7';
    });
    if (any && rest.empty()) {
      return integer(written, digits, base);
    }
    return Value(written);
  }
  std::string_view rest = written;
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
    if (rest.front() == '-') {
      digits += '-';
    }
    rest.remove_prefix(1);
  }
  const bool whole = take_digits(rest, digits, is_digit);
  bool real = false;
  bool fraction = false;
  if (!rest.empty() && rest.front() == '.') {
    real = true;
    rest.remove_prefix(1);
    digits += whole ? "." : "0.";
    fraction = take_digits(rest, digits, is_digit);
    if (!fraction) {
      digits += '0';
    }
  }
  if (!whole && !fraction) {
    return Value(written);
  }
  if (!rest.empty() && (rest.front() == 'e' || rest.front() == 'E')) {
    real = true;
    digits += 'e';
    rest.remove_prefix(1);
    if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
      digits += rest.front();
      rest.remove_prefix(1);
    }
    if (!take_digits(rest, digits, is_digit)) {
      return Value(written);
    }
  }
  if (!rest.empty()) {
    return Value(written);
  }
  if (!real) {
    return integer(written, digits, 10);
  }
  const auto number = engine::number_in<double>(digits);
  if (!number) {
    return Refusal{"is " + shortened(written, most_shown) + ", which no double can hold",
                   "a number between 1e-307 and 1.7e308 in size"};
  }
  return Value(*number);
}

}  // namespace hpsearch::yaml
