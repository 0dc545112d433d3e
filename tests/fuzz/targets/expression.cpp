#include "hpsearch/engine/sim/expression.hpp"

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"

// A text is an error that names its column, or an expression that gives the same number twice.

namespace hpsearch::fuzz {
namespace {

using engine::Value;

engine::Space space() {
  engine::Problems problems;
  engine::Problems notes;
  const Value::Map range{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}};
  const Value tree =
      Value::Map{{"lr", range}, {"a", Value::Map{{"size", range}}}, {"b", Value::Map{{"size", 3}}}};
  return engine::Space::parse(tree, "hyperparameters", problems, notes);
}

void run_expression(std::string_view bytes) {
  namespace sim = engine::sim;
  static const engine::Space searched = space();
  static const Value hparams = searched.sample(1, engine::TrialNumber(0));
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
