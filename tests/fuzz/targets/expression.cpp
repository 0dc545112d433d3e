#include "hpsearch/engine/sim/expression.hpp"

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/space/formula.hpp"

// A text is an error that names its column, or an expression that gives the same number twice; and likewise
// for a condition.

namespace hpsearch::fuzz {
namespace {

using engine::Value;

engine::Space space() {
  engine::Problems problems;
  engine::Problems notes;
  const Value::Map range{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}};
  const Value choice = Value::Map{{"type", "categorical"}, {"vals", Value::List{"x", true, nullptr}}};
  const Value tree = Value::Map{
      {"lr", range}, {"a", Value::Map{{"size", range}}}, {"b", Value::Map{{"size", 3}}}, {"c", choice}};
  return engine::Space::parse(tree, "hyperparameters", problems, notes);
}

void run_condition(std::string_view bytes, const engine::Space& searched, const Value& hparams) {
  const auto condition = engine::Formula::parse_condition(bytes, searched.leaves());
  if (!condition) {
    HPSEARCH_CHECK(condition.error().message.starts_with("column "), "an error names its column");
    return;
  }
  HPSEARCH_CHECK(condition->holds(hparams) == condition->holds(hparams),
                 "the same question gets the same answer");
  HPSEARCH_CHECK(condition->holds(Value::Map()) || condition->values_of(hparams).empty(),
                 "a condition on what is not there holds");
}

void run_expression(std::string_view bytes) {
  namespace sim = engine::sim;
  static const engine::Space searched = space();
  static const Value hparams = searched.sample(1, engine::TrialNumber(0));
  run_condition(bytes, searched, hparams);
  const auto expression = sim::Expression::parse(bytes, searched);
  if (!expression) {
    HPSEARCH_CHECK(expression.error().message.starts_with("column "), "an error names its column");
    return;
  }
  const sim::Training training{engine::TrialNumber(7), hparams, 1};
  const double first = (*expression)->metric(training, engine::Units{9});
  const double second = (*expression)->metric(training, engine::Units{9});
  HPSEARCH_CHECK(!(first < second) && !(second < first), "the same question gets the same answer");
}

Seeds expression_seeds() {
  return files_in("tests/fuzz/corpus/expression");
}

const Registered expression_target({"expression", run_expression, expression_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
