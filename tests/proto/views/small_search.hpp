#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/engine.hpp"
#include "hpsearch/searchers/registry.hpp"

namespace hpsearch::views {

/// An experiment that runs step by step with simulated programs.
class SmallSearch {
 public:
  using OnEvent = std::function<void(const engine::Event&)>;

  explicit SmallSearch(engine::Value searcher, OnEvent on_event = {}, engine::Value space = usual_space())
      : on_event_(std::move(on_event)) {
    using engine::Value;
    engine_.skip_first_look();
    engine::JoinWorker worker;
    worker.uid = "made-up";
    worker.name = "node";
    worker.incarnation = 1;
    worker.slots = 8;
    worker.slot_kind = "gpu";
    step(std::move(worker));
    engine::CreateExperiment create;
    create.config = Value::Map{{"name", "small"},
                               {"entrypoint", "true"},
                               {"max_restarts", 1},
                               {"hyperparameters", std::move(space)},
                               {"searcher", std::move(searcher)}};
    step(std::move(create));
  }

  static engine::Value usual_space() {
    using engine::Value;
    return Value::Map{{"lr", Value::Map{{"type", "log"}, {"base", 10}, {"minval", -4}, {"maxval", -1}}},
                      {"kind", Value::Map{{"type", "categorical"}, {"vals", Value::List{"a", "b", 3}}}},
                      {"layers", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 8}}},
                      {"fixed", "x"}};
  }
  static engine::Value halving(std::int64_t trials) {
    using engine::Value;
    return Value::Map{{"name", "async_halving"}, {"metric", "loss"},
                      {"num_rungs", 3},          {"max_length", Value::Map{{"epochs", 16}}},
                      {"max_trials", trials},    {"max_concurrent_trials", 0}};
  }

  void annotate(std::uint64_t trial, std::vector<std::string> labels, bool starred) {
    step(engine::Annotate{.experiment = engine::ExperimentId(1),
                          .trial = engine::TrialNumber(trial),
                          .labels = std::move(labels),
                          .starred = starred});
  }

  [[nodiscard]] bool over() const { return programs_.empty(); }
  [[nodiscard]] const engine::ExperimentRecord& record() const {
    return *engine_.find(engine::ExperimentId(1));
  }
  [[nodiscard]] const engine::Engine& engine() const { return engine_; }

  void kill() {
    step(engine::KillExperiment{engine::ExperimentId(1)});
    programs_.clear();
  }

  /// One program reports, or crashes.
  void advance() {
    Program program = programs_.front();
    programs_.pop_front();
    const double drawn = engine::Draw(++draws_, program.key.trial, "what happens").unit();
    engine::TakeReports reports{engine::WorkerId(1), program.key, program.next_seq++, {}};
    if (drawn < 0.05) {
      reports.reports.emplace_back(
          engine::ExitReport{engine::ExitReport::Cause::exited, 1, "exit code 1", "it broke"});
      step(std::move(reports));
      return;
    }
    const double loss = drawn < 0.1 ? std::numeric_limits<double>::quiet_NaN() : drawn;
    reports.reports.emplace_back(engine::MetricsReport{program.length, {{"loss", loss}}});
    directive_ = engine::Directive::stop;
    step(std::move(reports));
    if (directive_ == engine::Directive::train_on) {
      program.length = decided_length_;
      programs_.push_back(program);
      return;
    }
    engine::TakeReports exit{engine::WorkerId(1), program.key, program.next_seq, {}};
    exit.reports.emplace_back(engine::ExitReport{});
    step(std::move(exit));
  }

 private:
  struct Program {
    engine::AttemptKey key;
    engine::Units length{};
    std::uint64_t next_seq = 1;
  };

  void step(engine::Command command) {
    now_ += 1'000'000;
    auto effects = engine_.step(std::move(command), engine::Instant::from_micros(now_));
    ASSERT_TRUE(effects) << effects.error().message;
    for (const engine::Event& event : effects->events) {
      if (on_event_) {
        on_event_(event);
      }
    }
    for (const engine::Order& order : effects->orders) {
      if (const auto* launch = std::get_if<engine::LaunchAttempt>(&order)) {
        programs_.push_back({launch->spec.key, launch->spec.length, 1});
      } else if (const auto* decision = std::get_if<engine::DecideAttempt>(&order)) {
        directive_ = decision->decision.directive;
        decided_length_ = decision->decision.length;
      }
    }
    if (programs_.empty() && engine_.next_deadline()) {
      now_ = std::max(now_, engine_.next_deadline()->micros());
      step(engine::CheckTimers{});
    }
  }

  OnEvent on_event_;
  engine::Engine engine_{searchers::registry()};
  std::int64_t now_ = 1'000'000;
  std::deque<Program> programs_;
  std::uint64_t draws_ = 0;
  engine::Directive directive_ = engine::Directive::stop;
  engine::Units decided_length_{};
};

}  // namespace hpsearch::views
