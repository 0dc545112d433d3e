#pragma once

#include <cstdint>

#include "simulation/cluster/faults/dishonest_peer.hpp"

namespace hpsearch::simulation {

/// Somebody who was let in and says what no honest worker says: rubbish, reports of other workers' attempts,
/// leases nobody granted, epochs nobody reached, other workers' names.
class Stranger final : private DishonestPeer {
 public:
  Stranger(VirtualTime& time, Faults& faults, Network& network, Promises& promises, std::size_t number,
           std::uint64_t seed);

  void act(Fault kind, const std::string& some_uid);
  void on_event(const Frame& frame);

 private:
  void introduce(const std::string& uid, std::uint64_t incarnation);
  [[nodiscard]] engine::AttemptKey some_attempt(bool forged);

  std::uint64_t names_ = 0;  // It goes by so many more on its one connection.
};

}  // namespace hpsearch::simulation
