#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "hpsearch/engine/base/draw.hpp"
#include "simulation/cluster/faults/faults.hpp"
#include "simulation/cluster/nodes/daemon_node.hpp"
#include "simulation/cluster/promises.hpp"

namespace hpsearch::simulation {

/// People with a command line: they submit searches until they are told that it worked, and change their
/// minds.
class Users {
 public:
  Users(VirtualTime& time, Faults& faults, DaemonNode& daemon, Promises& promises, std::uint64_t seed);

  /// Some searches want so many slots for each trial, on several workers if need be; 0 = none does.
  void may_ask_for(std::uint64_t slots) { gang_slots_ = slots; }
  void submit();
  /// A search with so many trials that it shows which worker fails them.
  void submit_a_large_one();
  /// One change of mind of the given kind, about some experiment.
  void act(Fault kind);
  /// Everything that was paused is to go on, and every worker to be used, so that all can end.
  void undo_all();

  [[nodiscard]] std::uint64_t unanswered() const noexcept { return unanswered_; }

 private:
  [[nodiscard]] engine::Value search();
  void submit_until_answered(engine::Value config, std::string key, std::shared_ptr<bool> answered,
                             std::uint64_t tries);
  void perform(engine::Command command);
  void quarantine_some_worker();
  void change_quota();
  [[nodiscard]] engine::Value new_limits(const engine::ExperimentRecord& record);

  VirtualTime& time_;
  Faults& faults_;
  DaemonNode& daemon_;
  Promises& promises_;
  engine::Draw draw_;
  engine::Draw patience_;
  engine::Draw gangs_;
  engine::Draw budgets_;   // The same, of budgets of time.
  engine::Draw samplers_;  // And of how configurations are chosen.
  engine::Draw spaces_;    // And among which.
  engine::Draw repeats_;   // And of repeats of the best.
  engine::Draw rules_;     // And of rules that stop trials.
  engine::Draw quotas_;    // And of quotas.
  std::uint64_t gang_slots_ = 0;
  std::uint64_t submitted_ = 0;
  std::uint64_t unanswered_ = 0;
};

}  // namespace hpsearch::simulation
