#include "hpsearch/engine/sim/curve_table.hpp"

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"

// A text is an error or a table that answers for every trial and length, with times that never go back.

namespace hpsearch::fuzz {
namespace {

using engine::Units;

void run_curve_table(std::string_view bytes) {
  namespace sim = engine::sim;
  const auto table = sim::CurveTable::parse(bytes, sim::CurveTable::Missing::cycle);
  if (!table) {
    HPSEARCH_CHECK(!table.error().message.empty(), "an error has a reason");
    return;
  }
  const engine::Value hparams = engine::Value::Map{};
  for (std::uint64_t trial = 0; trial < 4; ++trial) {
    const sim::Training training{engine::TrialNumber(trial), hparams, 0};
    HPSEARCH_CHECK((*table)->covers(training).has_value(), "a cycle has no end");
    for (std::uint64_t length = 0; length < 40; length += 3) {
      static_cast<void>((*table)->metric(training, Units{length}));
      HPSEARCH_CHECK(!((*table)->seconds(training, Units{length}, Units{length + 3}) < 0), "time goes on");
    }
  }
}

Seeds curve_table_seeds() {
  return files_in("tests/fuzz/corpus/curve_table");
}

const Registered curve_table_target({"curve_table", run_curve_table, curve_table_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
