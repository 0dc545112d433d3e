#pragma once

#include <cstdint>

#include "simulation/cluster/nodes/network.hpp"

namespace hpsearch::simulation {

/// Another daemon, with a store of its own, that answers at the daemon's address for a while. In its log
/// stand the same numbers of experiments and trials, and it knows that all of them went on elsewhere: what it
/// says of a program is its end.
class ForeignStore {
 public:
  explicit ForeignStore(Network& network) : network_(network) {}

  /// Answers a HELLO as a real daemon does, and nothing else.
  void on_event(const net::Peer& peer, const Frame& frame);

 private:
  Network& network_;
  std::uint64_t sessions_ = 0;
};

}  // namespace hpsearch::simulation
