#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/formula.hpp"
#include "space/formula_text.hpp"
#include "space/leaves.hpp"

/// The words that every formula may use: functions, constants and comparisons, and the values of choices.
namespace hpsearch::engine::formula_words {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class Operation>
constexpr Formula::Binary binary(Operation /*operation*/) {
  return [](double a, double b) { return static_cast<double>(Operation()(a, b)); };
}

struct Function {
  std::string_view name;
  Formula::Unary of_one;
  Formula::Binary of_many;  // Two or more arguments.
};
inline constexpr Function functions[] = {
    {"abs", [](double a) { return std::fabs(a); }, nullptr},
    {"sqrt", [](double a) { return std::sqrt(a); }, nullptr},
    {"exp", [](double a) { return std::exp(a); }, nullptr},
    {"log", [](double a) { return std::log(a); }, nullptr},
    {"floor", [](double a) { return std::floor(a); }, nullptr},
    {"min", nullptr,
     [](double a, double b) { return std::isnan(a) || std::isnan(b) ? not_a_number : std::min(a, b); }},
    {"max", nullptr,
     [](double a, double b) { return std::isnan(a) || std::isnan(b) ? not_a_number : std::max(a, b); }},
};
inline constexpr std::pair<std::string_view, double> constants[] = {
    {"nan", not_a_number}, {"inf", std::numeric_limits<double>::infinity()}, {"pi", std::numbers::pi}};

struct Comparison {
  std::string_view token;
  Formula::Binary compare;
};
inline constexpr Comparison comparisons[] = {
    {"<=", binary(std::less_equal<>())}, {">=", binary(std::greater_equal<>())},
    {"<", binary(std::less<>())},        {">", binary(std::greater<>())},
    {"==", binary(std::equal_to<>())},   {"!=", binary(std::not_equal_to<>())},
    {"=", binary(std::equal_to<>())}};

inline constexpr Formula::Unary logical_not = [](double a) { return a == 0 ? 1.0 : 0.0; };
inline constexpr Formula::Binary logical_or = [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; };

/// The functions and constants as a message lists them.
inline constexpr std::string_view builtin_names[] = {"nan",   "inf",   "pi",      "abs()", "sqrt()",
                                                     "exp()", "log()", "floor()", "min()", "max()"};

/// Which of the values is meant, or their number. A text is also one of them that differs in capitals only,
/// or a list as JSON.
inline std::size_t place_of(const std::vector<Value>& values, std::string_view text, bool is_quoted) {
  if (!is_quoted) {
    for (const auto& [word, value] : {std::pair("true", Value(true)), std::pair("false", Value(false)),
                                      std::pair("null", Value()), std::pair("none", Value())}) {
      if (const std::size_t place = category_of(values, value);
          FormulaText::same_letters(text, word) && place < values.size()) {
        return place;
      }
    }
    const auto number = number_in<double>(text);
    if (const std::size_t place = number ? category_of(values, *number) : values.size();
        place < values.size()) {
      return place;
    }
  }
  if (const std::size_t place = category_of(values, text); place < values.size()) {
    return place;
  }
  const auto is_meant = [&](const Value& value) {
    return (value.as_text() != nullptr || value.as_list() != nullptr || value.as_map() != nullptr ||
            value.as_bool() != nullptr) &&
           FormulaText::same_letters(python_text(value), text);
  };
  return static_cast<std::size_t>(std::find_if(values.begin(), values.end(), is_meant) - values.begin());
}

}  // namespace hpsearch::engine::formula_words
