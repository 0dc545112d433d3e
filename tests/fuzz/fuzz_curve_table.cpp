#include <cstddef>
#include <cstdint>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/sim/curve_table.hpp"

// Whatever the text: a table that answers for every trial and length, times never running backwards, or an
// error.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpsearch::engine;  // NOLINT(google-build-using-namespace)
  const auto table =
      sim::CurveTable::parse({reinterpret_cast<const char*>(data), size}, sim::CurveTable::Missing::cycle);
  if (!table) {
    HPSEARCH_CHECK(!table.error().message.empty(), "an error says why");
    return 0;
  }
  const Value hparams = Value::Map{};
  for (std::uint64_t trial = 0; trial < 4; ++trial) {
    const sim::Training training{TrialNumber(trial), hparams, 0};
    HPSEARCH_CHECK((*table)->covers(training).has_value(), "a cycle has no end");
    for (std::uint64_t length = 0; length < 40; length += 3) {
      static_cast<void>((*table)->metric(training, Units{length}));
      HPSEARCH_CHECK(!((*table)->seconds(training, Units{length}, Units{length + 3}) < 0), "time goes on");
    }
  }
  return 0;
}
