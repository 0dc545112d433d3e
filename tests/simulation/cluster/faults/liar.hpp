#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "simulation/cluster/faults/dishonest_peer.hpp"

namespace hpsearch::simulation {

/// A worker that gets work and lies about it: says that it holds what others run, that programs run or have
/// ended which it never started, numbers reports as it likes, and says other things under a number it has
/// used. What it says about its own leases counts, for nobody can know better; nobody else may come to harm.
class Liar final : private DishonestPeer {
 public:
  Liar(VirtualTime& time, Faults& faults, Network& network, Promises& promises, std::size_t number,
       std::uint64_t seed);

  void lie();
  void on_event(const Frame& frame);

 private:
  void introduce();
  [[nodiscard]] engine::AttemptKey some_attempt();
  [[nodiscard]] engine::HeldAttempt some_held();
  [[nodiscard]] engine::Report some_report();
  [[nodiscard]] engine::ExitReport some_exit();

  std::uint64_t slots_;
  std::uint64_t incarnation_ = 1;
  std::map<engine::AttemptKey, std::uint64_t> leased_;  // The last number of a report that it has used.
};

}  // namespace hpsearch::simulation
