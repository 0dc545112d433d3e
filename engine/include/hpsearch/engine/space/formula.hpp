#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/names.hpp"

namespace hpsearch::engine {

/// A number or a condition that is computed from the values of names (docs/conditions.md).
///
///     condition  = all { ("or" | "||") all }
///     all        = negation { ("and" | "&&") negation }
///     negation   = ("not" | "!") negation | comparison
///     comparison = sum ("<" | "<=" | ">" | ">=" | equals) sum | number-name equals "null"
///                | number-name "in" "(" sum { "," sum } ")"
///                | choice equals value | choice "in" "(" value { "," value } ")" | "(" condition ")"
///     equals     = "==" | "=" | "!="
///     value      = "'" text "'" | '"' text '"' | word | number | "true" | "false" | "null"
///     sum        = product { ("+" | "-") product }
///     product    = sign { ("*" | "/") sign }
///     sign       = { "-" | "+" } power
///     power      = primary [ ("^" | "**") sign ]          binds to the right, before a sign on its left
///     primary    = number | name | name "(" sum { "," sum } ")" | "(" sum ")"
///
/// A choice is a name that isn't always a number. Names are those of the place (Names) and nan, inf, pi. A
/// name with other characters than letters, digits, '_' and '.' is read without quotes if it is the name of a
/// hyperparameter, and in double quotes: batch-size, hp."batch size". Functions: abs sqrt exp log floor of
/// one number, min max of two or more. and, or, not, in, true, false and null may be in capitals; none means
/// null.
///
/// Arithmetic is that of doubles: 1/0 is inf, log(-1) is nan; min and max are nan as soon as one argument is.
/// A comparison with nan is false, but for !=.
///
/// Threads: const calls may run together.
class Formula {
 public:
  /// bad_request: "column 7: …".
  [[nodiscard]] static Result<Formula> parse_number(std::string_view text, const Names& names);
  [[nodiscard]] static Result<Formula> parse_condition(std::string_view text, const Names& names);

  /// The value of a name, by its index in Names; null where it has none.
  using Lookup = std::function<Value(std::size_t name)>;
  /// For a formula of parse_number(). A name without a number is nan.
  [[nodiscard]] double number(const Lookup& lookup) const;
  /// For a formula of parse_condition().
  [[nodiscard]] bool holds(const Lookup& lookup) const { return number(lookup) != 0; }

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// The names in the formula by their index in Names, each once, in the order of their first use.
  [[nodiscard]] const std::vector<std::size_t>& names() const noexcept { return names_; }
  /// The texts that the condition joins by `and`; a condition that doesn't is one term.
  [[nodiscard]] const std::vector<std::string>& terms() const noexcept { return terms_; }

  struct Read {
    std::size_t name;
  };
  struct Is {  ///< 1 if the name has this value, else 0.
    std::size_t name;
    Value value;
  };
  using Unary = double (*)(double);
  using Binary = double (*)(double, double);
  using Instruction = std::variant<double, Read, Is, Unary, Binary>;

 private:
  friend class FormulaParser;
  explicit Formula(std::string_view text) : text_(text) {}

  std::string text_;
  std::vector<Instruction> program_;  // Postfix; conditions are 0 and 1.
  std::vector<std::size_t> names_;
  std::vector<std::string> terms_;
};

}  // namespace hpsearch::engine
