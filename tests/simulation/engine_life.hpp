#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/engine.hpp"

namespace hpsearch::simulation {

/// An engine with users, workers and programs that do as a seed says. They try commands of every kind; what
/// the engine refuses changes nothing.
class EngineLife {
 public:
  explicit EngineLife(std::uint64_t seed);
  /// Goes on with an engine that has replayed a log.
  EngineLife(std::uint64_t seed, engine::Engine engine);

  /// The config as submitted, with any searcher and sampler: small, and over soon.
  [[nodiscard]] engine::Value some_config();
  void submit(const engine::Value& config);
  void join_two_workers();
  void live(int turns);
  /// The store is brought back from this log, and time is lost.
  void restore_store();

  [[nodiscard]] const std::vector<engine::Event>& log() const noexcept { return log_; }
  [[nodiscard]] engine::Engine& engine() noexcept { return engine_; }

 private:
  bool chance(std::uint64_t of) { return draw_.below(of) == 0; }
  bool step(const engine::Command& command);
  void something_happens();
  void a_worker_does_something();
  void a_user_does_something();
  void a_program_does_something();
  void join(const std::string& uid, bool restarted);
  [[nodiscard]] engine::Report some_report(const engine::LiveAttempt& live);
  [[nodiscard]] const engine::ExperimentRecord* some_experiment();
  [[nodiscard]] const engine::LiveAttempt* some_attempt();
  [[nodiscard]] engine::WorkerId some_worker();
  [[nodiscard]] std::vector<engine::HeldAttempt> held_by(engine::WorkerId worker);

  engine::Draw draw_;
  engine::Draw rules_;  // Another stream, so that it changes no other choice.
  engine::Engine engine_;
  engine::Instant now_ = engine::Instant::from_micros(1'000'000);
  std::vector<engine::Event> log_;
};

}  // namespace hpsearch::simulation
