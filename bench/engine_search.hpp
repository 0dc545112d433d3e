#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <variant>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/engine.hpp"
#include "hpsearch/searchers/registry.hpp"

namespace hpsearch::bench {

using namespace engine;  // NOLINT(google-build-using-namespace)

inline constexpr std::uint64_t slots = 1000;

/// How a search to be measured looks.
struct SearchShape {
  std::int64_t trials = 0;
  bool stop_once = false;
  std::int64_t max_length = 256;
  std::int64_t rungs = 5;
  bool every_unit = false;  ///< Programs report after each unit of length, not only where they are asked to.
};

/// async_halving with divisor 4 over four parameters, on a thousand slots.
inline Value search_of(const SearchShape& shape) {
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
                              {"max_length", Value::Map{{"epochs", shape.max_length}}},
                              {"num_rungs", shape.rungs},
                              {"max_trials", shape.trials},
                              {"stop_once", shape.stop_once},
                              {"max_concurrent_trials", 0}}}};
}

/// One search while it runs: an engine and the programs it started.
class Search {
 public:
  /// Is given the effects of each command, and how long the engine took.
  using AfterStep = std::function<void(Effects&, std::chrono::nanoseconds)>;

  explicit Search(const SearchShape& shape, AfterStep after_step = nullptr)
      : shape_(shape),
        after_step_(std::move(after_step)),
        engine_(searchers::registry()),
        metric_(1, TrialNumber(0), "bench") {
    engine_.skip_first_look();
    JoinWorker worker;
    worker.uid = "bench";
    worker.name = "bench";
    worker.incarnation = 1;
    worker.slots = slots;
    worker.slot_kind = "gpu";
    step(std::move(worker));
    CreateExperiment create;
    create.config = search_of(shape);
    step(std::move(create));
  }

  void forget_effects() { effects_ = Effects(); }  // Its room is the bench's, not the engine's.
  [[nodiscard]] bool over() const { return running_.empty(); }
  [[nodiscard]] Engine& engine() { return engine_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t trials() const { return engine_.find(ExperimentId(1))->trials.size(); }

  /// The program that has waited longest for its turn reports, and exits if that is decided; what one step
  /// may not do is done by more of them.
  void advance() {
    let_one_report();
    while (engine_.next_deadline()) {
      step(CheckTimers{});
    }
  }

 private:
  void let_one_report() {
    Program program = running_.front();
    running_.pop_front();
    decided_ = Directive::kill;
    const bool all = !shape_.every_unit || count(program.reached) + 1 >= count(program.length);
    program.reached = all ? program.length : Units{count(program.reached) + 1};
    MetricsReport report{program.reached, {{"loss", metric_.unit()}}};
    TakeReports reports{WorkerId(1), program.key, program.next_seq++, {}};
    reports.reports.emplace_back(std::move(report));
    step(std::move(reports));
    if (!all || decided_ == Directive::train_on) {
      program.length = all ? decided_length_ : program.length;
      running_.push_back(program);
      return;
    }
    TakeReports exit{WorkerId(1), program.key, program.next_seq, {}};
    exit.reports.emplace_back(ExitReport{});
    step(std::move(exit));
  }

  struct Program {
    AttemptKey key;
    Units length{};
    Units reached{};
    std::uint64_t next_seq = 1;
  };

  void step(Command command) {
    const auto begun =
        after_step_ ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    const Status done =
        engine_.step(std::move(command), Instant::from_micros(static_cast<std::int64_t>(++steps_)), effects_);
    HPSEARCH_CHECK(done.has_value(), "the bench asks for nothing wrong");
    events_ += effects_.events.size();
    if (after_step_) {
      after_step_(effects_, std::chrono::steady_clock::now() - begun);
    }
    for (const Order& order : effects_.orders) {
      if (const auto* launch = std::get_if<LaunchAttempt>(&order)) {
        running_.push_back(
            Program{launch->spec.key, launch->spec.length, reached_by(launch->spec.key.trial), 1});
      } else if (const auto* decision = std::get_if<DecideAttempt>(&order)) {
        decided_ = decision->decision.directive;
        decided_length_ = decision->decision.length;
      }
    }
  }

  /// Where a trial goes on from: what it reported is what it saved.
  [[nodiscard]] Units reached_by(TrialNumber trial) const {
    return engine_.find(ExperimentId(1), trial)->reached;
  }

  SearchShape shape_;
  AfterStep after_step_;
  Engine engine_;
  Effects effects_;
  Draw metric_;
  std::deque<Program> running_;
  std::uint64_t steps_ = 0;
  std::uint64_t events_ = 0;
  Directive decided_ = Directive::kill;
  Units decided_length_{};
};

}  // namespace hpsearch::bench
