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
  const std::size_t leaves = searched.leaves().size();
  const engine::Names names(searched.leaves(),
                            {engine::Name{"state", false, false, true, {"RUNNING", "PAUSED"}}}, true);
  const auto condition = engine::Formula::parse_condition(bytes, names);
  if (!condition) {
    HPSEARCH_CHECK(condition.error().message.starts_with("column "), "an error names its column");
    return;
  }
  const auto lookup = [&](std::size_t name) {
    HPSEARCH_CHECK(name <= leaves, "the index is that of a name");
    const Value* value = name == 0 ? nullptr : hparams.at_keys(searched.leaves()[name - 1].keys);
    return name == 0 ? Value("PAUSED") : value == nullptr ? Value() : *value;
  };
  HPSEARCH_CHECK(condition->holds(lookup) == condition->holds(lookup),
                 "the same question gets the same answer");
  std::string joined;
  for (const std::string& term : condition->terms()) {
    joined += (joined.empty() ? "" : " and ") + term;
  }
  const auto again = engine::Formula::parse_condition(joined, names);
  HPSEARCH_CHECK(again && again->holds(lookup) == condition->holds(lookup),
                 "the terms joined by `and` are the condition");
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
  Seeds seeds = files_in("tests/fuzz/corpus/expression");
  for (const char* text :
       {"lr<0.01 and (state=PAUSED or a.size>=0.9) and not c='x'", "lr=1 or c!=none and not(lr<=-1e-3)",
        "((((c==true))))", "not not not state in (running, \"PAUSED\")"}) {
    seeds.emplace_back(text);
  }
  return seeds;
}

const Registered expression_target({"expression", run_expression, expression_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
