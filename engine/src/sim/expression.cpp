#include "hpsearch/engine/sim/expression.hpp"

#include <array>

namespace hpsearch::engine::sim {

Result<std::unique_ptr<Expression>> Expression::parse(std::string_view text, const Space& space) {
  static constexpr std::array<std::string_view, 3> variables = {"trial", "length", "op"};
  Result<Formula> formula = Formula::parse_number(text, space.leaves(), variables);
  if (!formula) {
    return formula.error();
  }
  return std::unique_ptr<Expression>(new Expression(std::move(*formula)));
}

double Expression::metric(const Training& training, Units length) {
  const std::array<double, 3> variables = {static_cast<double>(training.trial.number()),
                                           static_cast<double>(count(length)),
                                           static_cast<double>(training.op)};
  return formula_.number(training.hparams, variables, stack_);
}

}  // namespace hpsearch::engine::sim
