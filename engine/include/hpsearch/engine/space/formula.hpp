#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {

/// A number or a condition that is computed from a configuration.
///
///     condition  = and { ("or" | "||") and }
///     and        = not { ("and" | "&&") not }
///     not        = ("not" | "!") not | comparison
///     comparison = sum ("<" | "<=" | ">" | ">=" | "==" | "!=") sum | choice ("==" | "!=") literal
///                | "(" condition ")"
///     sum        = product { ("+" | "-") product }
///     product    = sign { ("*" | "/") sign }
///     sign       = { "-" | "+" } power
///     power      = primary [ ("^" | "**") sign ]          binds to the right, before a sign on its left
///     primary    = number | name | name "(" sum { "," sum } ")" | "(" sum ")"
///     literal    = "'" text "'" | "true" | "false" | "null"
///
/// Names: nan, inf, pi, the variables that the caller knows, and the hyperparameters: hp.optimizer.lr, or
/// just lr where only one leaf of the space is called so. Whatever is not ASCII counts as a letter; what has
/// other characters in its name stands in double quotes: hp."batch-size", "batch-size". A sum takes those
/// that are always numbers; a choice is one of the others. Functions: abs sqrt exp log floor of one number,
/// min max of two or more.
///
/// Arithmetic is that of doubles: 1/0 is inf, log(-1) is nan; min and max are nan as soon as one argument is.
/// A comparison with nan is false, but for !=.
///
/// Threads: const calls may run together.
class Formula {
 public:
  /// bad_request: "column 7: …". `leaves` are the hyperparameters there are.
  [[nodiscard]] static Result<Formula> parse_number(std::string_view text,
                                                    std::span<const Space::Leaf> leaves,
                                                    std::span<const std::string_view> variables);
  [[nodiscard]] static Result<Formula> parse_condition(std::string_view text,
                                                       std::span<const Space::Leaf> leaves);

  /// Of a formula that parse_number() gave; nan where the configuration lacks a hyperparameter. The stack is
  /// overwritten: it is kept for its room.
  [[nodiscard]] double number(const Value& configuration, std::span<const double> variables,
                              std::vector<double>& stack) const;
  /// Of a formula that parse_condition() gave; true where the configuration lacks a hyperparameter.
  [[nodiscard]] bool holds(const Value& configuration) const;

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// "layers 4, width 2048": those it names.
  [[nodiscard]] std::string values_of(const Value& configuration) const;

  struct Instruction {
    enum class Kind : std::uint8_t {
      number,
      variable,
      hyperparameter,
      is_value,  ///< Whether the hyperparameter has this value.
      negate,
      abs,
      sqrt,
      exp,
      log,
      floor,
      add,
      subtract,
      multiply,
      divide,
      power,
      min,
      max,
      less,
      less_or_equal,
      greater,
      greater_or_equal,
      equal,
      not_equal,
      logical_not,
      logical_and,
      logical_or,
    };
    Kind kind = Kind::number;
    double number = 0;              ///< Or which variable.
    std::vector<std::string> keys;  ///< Of a hyperparameter.
    Value value = {};               ///< That it is compared with.
  };

 private:
  Formula(std::string_view text, std::vector<Instruction> program)
      : text_(text), program_(std::move(program)) {}

  std::string text_;
  std::vector<Instruction> program_;  // Postfix; conditions are 0 and 1.
};

}  // namespace hpsearch::engine
