#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/sim/simulation.hpp"
#include "hpsearch/searchers/registry.hpp"

// How many events of the engine's log a simulated search makes per second: everything from a report through
// the searcher's verdict and the next lease to the program's exit. Each trial trains at its own speed, so
// that nothing happens in step.

namespace hpsearch::engine::sim {
namespace {

class PowerCurves final : public Curves {
 public:
  double metric(const Training& training, Units length) override {
    return quality(training) + 1 / std::sqrt(static_cast<double>(count(length)));
  }
  bool has_times() const noexcept override { return true; }
  double seconds(const Training& training, Units from, Units to) override {
    return static_cast<double>(count(to) - count(from)) * (0.5 + quality(training));
  }

 private:
  static double quality(const Training& training) { return Draw(1, training.trial, "bench").unit(); }
};

Value search(std::int64_t trials, std::int64_t workers, bool stop_once) {
  return Value::Map{{"name", "bench"},
                    {"entrypoint", "true"},
                    {"hyperparameters",
                     Value::Map{{"x", Value::Map{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}}}}},
                    {"searcher", Value::Map{{"name", "adaptive_asha"},
                                            {"metric", "loss"},
                                            {"max_length", Value::Map{{"epochs", 256}}},
                                            {"max_trials", trials},
                                            {"stop_once", stop_once},
                                            {"max_concurrent_trials", workers}}}};
}

void events(benchmark::State& state) {
  const std::int64_t workers = state.range(0);
  const Value config = search(5 * workers, workers, state.range(1) != 0);
  Options options;
  options.workers = static_cast<std::uint64_t>(workers);
  options.duration = DurationModel::curve;
  options.keep_decisions = false;
  std::uint64_t events = 0;
  for (auto _ : state) {
    PowerCurves curves;
    const Result<Simulated> simulated = simulate(config, searchers::registry(), curves, options);
    HPSEARCH_CHECK(simulated && simulated->state == ExperimentState::completed, "the search ends");
    events += simulated->events;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kAvgIterations);
}
BENCHMARK(events)
    ->Name("engine/sim/events")
    ->ArgNames({"workers", "stop_once"})
    ->ArgsProduct({{10, 100, 1000, 10'000}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hpsearch::engine::sim
