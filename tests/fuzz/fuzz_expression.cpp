#include <cstddef>
#include <cstdint>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/sim/expression.hpp"

// Whatever the text: an expression that gives a number, the same one twice, or an error that names its
// column.

namespace {

using hpsearch::engine::Value;

hpsearch::engine::Space space() {
  hpsearch::engine::Problems problems;
  hpsearch::engine::Problems notes;
  const Value::Map range{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}};
  const Value tree =
      Value::Map{{"lr", range}, {"a", Value::Map{{"size", range}}}, {"b", Value::Map{{"size", 3}}}};
  return hpsearch::engine::Space::parse(tree, "hyperparameters", problems, notes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpsearch::engine;  // NOLINT(google-build-using-namespace)
  static const Space searched = space();
  static const Value hparams = searched.sample(1, TrialNumber(0));
  const auto expression = sim::Expression::parse({reinterpret_cast<const char*>(data), size}, searched);
  if (!expression) {
    HPSEARCH_CHECK(expression.error().message.starts_with("column "), "an error says where");
    return 0;
  }
  const sim::Training training{TrialNumber(7), hparams, 1};
  const double first = (*expression)->metric(training, Units{9});
  const double second = (*expression)->metric(training, Units{9});
  HPSEARCH_CHECK(!(first < second) && !(second < first), "the same question gets the same answer");
  return 0;
}
