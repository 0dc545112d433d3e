#include "hpsearch/engine/sim/expression.hpp"

#include <utility>

namespace hpsearch::engine::sim {

Result<std::unique_ptr<Expression>> Expression::parse(std::string_view text, const Space& space) {
  const Names names(space.leaves(), {Name{"trial"}, Name{"length"}, Name{"op"}});
  Result<Formula> formula = Formula::parse_number(text, names);
  if (!formula) {
    return formula.error();
  }
  return std::unique_ptr<Expression>(new Expression(std::move(*formula), space));
}

Expression::Expression(Formula formula, const Space& space) : formula_(std::move(formula)) {
  for (const Space::Leaf& leaf : space.leaves()) {
    keys_.push_back(leaf.keys);
  }
}

double Expression::metric(const Training& training, Units length) {
  const double variables[] = {static_cast<double>(training.trial.number()),
                              static_cast<double>(count(length)), static_cast<double>(training.op)};
  return formula_.number([&](std::size_t name) {
    if (name < std::size(variables)) {
      return Value(variables[name]);
    }
    const Value* value = training.hparams.at_keys(keys_[name - std::size(variables)]);
    return value == nullptr ? Value(0) : *value;
  });
}

}  // namespace hpsearch::engine::sim
