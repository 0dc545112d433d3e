#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/test_cluster.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::engine {

inline Value gang_config(int slots, int trials, int concurrent = 1, Value::Map others = {}) {
  Value& resources = others["resources"];
  if (resources.is_null()) {
    resources = Value::Map{{"spans_workers", true}};
  }
  (*resources.as_map())["slots_per_trial"] = slots;
  return random_config(trials, concurrent, std::move(others));
}

/// Workers with addresses, and the last decision that each got about the attempt.
class Gangs : public testing::Test {
 protected:
  WorkerId join(const std::string& name, std::uint64_t slots, std::vector<HeldAttempt> held = {},
                std::uint64_t incarnation = 1) {
    JoinWorker worker = offer(name, slots);
    worker.incarnation = incarnation;
    worker.held = std::move(held);
    return *step(worker).joined;
  }

  static CreateExperiment submit(Value config) {
    CreateExperiment create;
    create.config = std::move(config);
    return create;
  }

  static JoinWorker offer(const std::string& name, std::uint64_t slots) {
    JoinWorker worker{name, name, 1, slots, "cpu", {}};
    worker.address = "10.0.0." + name;
    return worker;
  }

  Effects step(const Command& command) {
    Effects effects = cluster.step(command);
    for (const Order& order : effects.orders) {
      if (const auto* launch = std::get_if<LaunchAttempt>(&order)) {
        launched[launch->worker] = launch->spec;
      } else if (const auto* decide = std::get_if<DecideAttempt>(&order)) {
        sent[decide->worker] = decide->decision.directive;
      } else if (const auto* ack = std::get_if<AckReports>(&order)) {
        acked[ack->worker] = ack->upto;
      }
    }
    return effects;
  }

  Effects exits(WorkerId worker, int code, std::uint64_t seq = 1) {
    ExitReport exit;
    exit.code = code;
    exit.message = code == 0 ? "" : "exit status " + std::to_string(code);
    return step(TakeReports{worker, launched.at(worker).key, seq, {exit}});
  }
  Effects ends_as_asked(WorkerId worker, std::uint64_t seq = 1) {
    ExitReport exit;
    exit.cause = ExitReport::Cause::ended_by_agent;
    return step(TakeReports{worker, launched.at(worker).key, seq, {exit}});
  }
  void starts(WorkerId worker) { step(ConfirmStart{worker, launched.at(worker).key}); }

  /// Three slots on two devices: two on x, one on y.
  static JoinWorker sharing(const std::string& name, std::vector<SlotTrouble> troubles) {
    JoinWorker worker = offer(name, 3);
    for (const char* device : {"GPU-x", "GPU-x", "GPU-y"}) {
      worker.devices.push_back({device, "Fake GPU", 0, 0});
    }
    worker.troubles = std::move(troubles);
    return worker;
  }

  const TrialRecord& trial(std::uint64_t number = 0) const { return cluster.trial(experiment, number); }
  std::uint64_t free_slots(WorkerId worker) const { return cluster.engine.workers().at(worker).slots.free(); }

  /// The log folds to what lives.
  void expect_replayable() const {
    const Engine folded = cluster.replayed();
    EXPECT_EQ(state_text(folded), state_text(cluster.engine));
  }

  TestCluster cluster;
  ExperimentId experiment;
  std::map<WorkerId, AttemptSpec> launched;
  std::map<WorkerId, Directive> sent;
  std::map<WorkerId, std::uint64_t> acked;
};

/// One trial of four slots on two workers, started on both.
class RunningGang : public Gangs {
 protected:
  void SetUp() override {
    a = join("1", 2);
    b = join("2", 2);
    CreateExperiment create;
    create.config = gang_config(4, 1);
    experiment = *step(create).created;
    starts(a);
    starts(b);
  }
  WorkerId a;
  WorkerId b;
};

}  // namespace hpsearch::engine
