#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "hpsearch/engine/base/draw.hpp"
#include "simulation/cluster/faults.hpp"
#include "simulation/cluster/network.hpp"
#include "simulation/cluster/promises.hpp"

namespace hpsearch::simulation {

/// A worker that gets work and lies about it: says that it holds what others run, that programs run or have ended which
/// it never started, numbers reports as it likes, and says other things under a number it has used. What it says about
/// its own leases counts, for nobody can know better; nobody else may come to harm.
class Liar {
 public:
  Liar(VirtualTime& time, Faults& faults, Network& network, Promises& promises, std::size_t number, std::uint64_t seed);

  void lie();
  void hear(const Frame& frame);

 private:
  void say(const proto::FromWorker& message);
  void introduce();
  [[nodiscard]] engine::AttemptKey some_attempt();
  [[nodiscard]] engine::HeldAttempt some_held();
  [[nodiscard]] engine::Report some_report();
  [[nodiscard]] engine::ExitReport some_exit();

  VirtualTime& time_;
  Faults& faults_;
  Network& network_;
  Promises& promises_;
  std::size_t number_;
  engine::Draw draw_;
  std::uint64_t slots_;
  proto::Envelope envelope_;
  bool connected_ = false;
  std::uint64_t incarnation_ = 1;
  std::map<engine::AttemptKey, std::uint64_t> leased_;  // The last number of a report that it has used.
};

}  // namespace hpsearch::simulation
