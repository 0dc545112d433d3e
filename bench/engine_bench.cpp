#include <benchmark/benchmark.h>
#include <malloc.h>

#include <cstdint>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/engine.hpp"
#include "hpsearch/searchers/registry.hpp"

// What a command costs as experiments grow: whole searches, every event and order included, from the first trial
// to the last. The programs are played by a queue that reports at each length and obeys.

namespace hpsearch {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace)

constexpr std::uint64_t slots = 1000;

Value search_of(std::int64_t trials, bool stop_once) {
  return Value::Map{
      {"name", "bench"},
      {"entrypoint", "true"},
      {"hyperparameters",
       Value::Map{{"lr", Value::Map{{"type", "log"}, {"base", 10}, {"minval", -4}, {"maxval", -1}}},
                  {"momentum", Value::Map{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}}},
                  {"layers", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 8}}},
                  {"optimizer", Value::Map{{"type", "categorical"}, {"vals", Value::List{"adam", "sgd"}}}}}},
      {"searcher", Value::Map{{"name", "async_halving"},
                              {"metric", "loss"},
                              {"max_length", Value::Map{{"epochs", 256}}},
                              {"num_rungs", 5},
                              {"max_trials", trials},
                              {"stop_once", stop_once},
                              {"max_concurrent_trials", 0}}}};
}

/// One search while it runs: an engine and the programs it started.
class Search {
 public:
  Search(std::int64_t trials, bool stop_once) : engine_(searchers::registry()), metric_(1, TrialNumber(0), "bench") {
    JoinWorker worker;
    worker.uid = "bench";
    worker.name = "bench";
    worker.incarnation = 1;
    worker.slots = slots;
    worker.slot_kind = "gpu";
    step(std::move(worker));
    CreateExperiment create;
    create.config = search_of(trials, stop_once);
    step(std::move(create));
  }

  void forget_effects() { effects_ = Effects(); }  // Its room is the bench's, not the engine's.
  [[nodiscard]] bool over() const { return running_.empty(); }
  [[nodiscard]] Engine& engine() { return engine_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t trials() const { return engine_.find(ExperimentId(1))->trials.size(); }

  /// The program that has waited longest for its turn reports, and exits if it is told to.
  void advance() {
    Program program = running_.front();
    running_.pop_front();
    told_ = Directive::kill;
    MetricsReport report{program.length, {{"loss", metric_.unit()}}};
    TakeReports reports{WorkerId(1), program.key, program.next_seq++, {}};
    reports.reports.emplace_back(std::move(report));
    step(std::move(reports));
    if (told_ == Directive::train_on) {
      program.length = told_length_;
      running_.push_back(program);
      return;
    }
    TakeReports exit{WorkerId(1), program.key, program.next_seq, {}};
    exit.reports.emplace_back(ExitReport{});
    step(std::move(exit));
  }

 private:
  struct Program {
    AttemptKey key;
    Units length{};
    std::uint64_t next_seq = 1;
  };

  void step(Command command) {
    const Status done = engine_.step(std::move(command), Instant::from_micros(static_cast<std::int64_t>(++steps_)), effects_);
    HPSEARCH_CHECK(done.has_value(), "the bench asks for nothing wrong");
    events_ += effects_.events.size();
    for (const Order& order : effects_.orders) {
      if (const auto* launch = std::get_if<LaunchAttempt>(&order)) {
        running_.push_back(Program{launch->spec.key, launch->spec.length, 1});
      } else if (const auto* decision = std::get_if<DecideAttempt>(&order)) {
        told_ = decision->decision.directive;
        told_length_ = decision->decision.length;
      }
    }
  }

  Engine engine_;
  Effects effects_;
  Draw metric_;
  std::deque<Program> running_;
  std::uint64_t steps_ = 0;
  std::uint64_t events_ = 0;
  Directive told_ = Directive::kill;
  Units told_length_{};
};

std::size_t heap_in_use() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

void whole_search(benchmark::State& state, bool stop_once) {
  double bytes_per_trial = 0;
  std::uint64_t steps = 0;
  std::uint64_t events = 0;
  for (auto _ : state) {
    const std::size_t before = heap_in_use();
    Search search(state.range(0), stop_once);
    while (!search.over()) {
      search.advance();
    }
    steps += search.steps();
    events += search.events();
    HPSEARCH_CHECK(search.trials() == static_cast<std::uint64_t>(state.range(0)), "a search runs all its trials");
    state.PauseTiming();
    search.forget_effects();
    bytes_per_trial = static_cast<double>(heap_in_use() - before) / static_cast<double>(state.range(0));
    {
      const Search gone = std::move(search);  // Its end is not what is measured.
    }
    state.ResumeTiming();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(steps));
  state.counters["events_per_second"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
  state.counters["per_step"] = benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["bytes_per_trial"] = bytes_per_trial;
  state.SetComplexityN(state.range(0));
}

void hundred_to_million(benchmark::internal::Benchmark* bench) {
  bench->ArgName("trials")->RangeMultiplier(10)->Range(100, 1'000'000)->Unit(benchmark::kMillisecond)->Complexity(benchmark::oN);
}

BENCHMARK_CAPTURE(whole_search, promotion, false)->Name("engine/step/promotion_search")->Apply(hundred_to_million);
BENCHMARK_CAPTURE(whole_search, stopping, true)->Name("engine/step/stopping_search")->Apply(hundred_to_million);

}  // namespace
}  // namespace hpsearch
