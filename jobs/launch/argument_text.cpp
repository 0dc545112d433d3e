#include "hpsearch/jobs/launch/argument_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

#include "fields/sections.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/contract/job_contract.hpp"

namespace hpsearch::jobs {

namespace {

/// A decimal with an exponent, written without it: "-1.5e-05" → "-0.000015".
std::string without_exponent(const std::string& text) {
  const std::size_t e = text.find('e');
  if (e == std::string::npos) {
    return text;
  }
  const bool negative = text.front() == '-';
  const std::string mantissa = text.substr(negative ? 1 : 0, e - (negative ? 1 : 0));
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  std::string digits = mantissa.substr(0, point);
  if (point < mantissa.size()) {
    digits += mantissa.substr(point + 1);
  }
  const long places = static_cast<long>(point) + std::strtol(text.c_str() + e + 1, nullptr, 10);
  std::string fixed;
  if (places <= 0) {
    fixed = "0." + std::string(static_cast<std::size_t>(-places), '0') + digits;
  } else if (static_cast<std::size_t>(places) >= digits.size()) {
    fixed = digits + std::string(static_cast<std::size_t>(places) - digits.size(), '0') + ".0";
  } else {
    fixed = digits.substr(0, static_cast<std::size_t>(places)) + "." +
            digits.substr(static_cast<std::size_t>(places));
  }
  return (negative ? "-" : "") + fixed;
}

std::string bool_text(bool value, BoolStyle style) {
  switch (style) {
    case BoolStyle::lower:
      return value ? "true" : "false";
    case BoolStyle::integer:
      return value ? "1" : "0";
    case BoolStyle::empty_false:
      return value ? "True" : "";
    case BoolStyle::python:
    case BoolStyle::flag:
      break;
  }
  return value ? "True" : "False";
}

}  // namespace

std::string styled_text(const Value& value, BoolStyle style) {
  const bool* boolean = value.as_bool();
  return boolean != nullptr ? bool_text(*boolean, style) : python_text(value);
}

std::string argument_text(const Value& value, BoolStyle style) {
  std::string text = styled_text(value, style);
  if (const double* real = value.as_real(); real != nullptr && *real < 0 && std::isfinite(*real)) {
    return without_exponent(text);
  }
  return text;
}

std::string shell_word(std::string_view text) {
  if (is_shell_safe(text)) {
    return std::string(text);
  }
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted.append("'\"'\"'");
    } else {
      quoted.push_back(c);
    }
  }
  quoted.push_back('\'');
  return quoted;
}

}  // namespace hpsearch::jobs
