#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/sim/curves.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine::sim {

/// An arithmetic expression that gives the metric of a simulated trial.
///
///     sum      = product { ("+" | "-") product }
///     product  = sign { ("*" | "/") sign }
///     sign     = { "-" | "+" } power
///     power    = primary [ ("^" | "**") sign ]          binds to the right, before a sign on its left
///     primary  = number | name | name "(" sum { "," sum } ")" | "(" sum ")"
///
/// Names: trial (its number), length, op (which piece of work, from 0), nan, inf, pi, and the numeric
/// hyperparameters: hp.optimizer.lr, or just lr where only one leaf of the space is called so. Whatever is
/// not ASCII counts as a letter; what has other characters in its name stands in double quotes:
/// hp."batch-size", "batch-size". Functions: abs sqrt exp log floor of one number, min max of two or more.
///
/// Arithmetic is that of doubles: 1/0 is inf, log(-1) is nan; min and max are nan as soon as one argument is.
class Expression final : public Curves {
 public:
  /// bad_request: "column 7: …". `space` says which hyperparameters there are.
  [[nodiscard]] static Result<std::unique_ptr<Expression>> parse(std::string_view text, const Space& space);

  [[nodiscard]] double metric(const Training& training, Units length) override;

  struct Instruction {
    enum class Kind : std::uint8_t {
      number,
      trial,
      length,
      op,
      hyperparameter,
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
    };
    Kind kind = Kind::number;
    double number = 0;
    std::vector<std::string> keys;  ///< Of a hyperparameter.
  };

 private:
  explicit Expression(std::vector<Instruction> program) : program_(std::move(program)) {}
  std::vector<Instruction> program_;  // Postfix.
  std::vector<double> stack_;
};

}  // namespace hpsearch::engine::sim
