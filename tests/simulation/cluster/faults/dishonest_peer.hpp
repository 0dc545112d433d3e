#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "hpsearch/engine/base/draw.hpp"
#include "simulation/cluster/faults/faults.hpp"
#include "simulation/cluster/nodes/network.hpp"
#include "simulation/cluster/promises.hpp"

namespace hpsearch::simulation {

/// Somebody on the network who says what it likes, in the frames of workers.
class DishonestPeer {
 protected:
  /// `kind` and `number` make its chances its own.
  DishonestPeer(VirtualTime& time, Faults& faults, Network& network, Promises& promises, std::size_t number,
                std::uint64_t seed, std::string_view kind);
  ~DishonestPeer() = default;

  /// False for the first time: it connects, and introduces itself a little later.
  [[nodiscard]] bool connected(std::function<void()> introduce);
  void say(const proto::FromWorker& message);

  VirtualTime& time_;
  Faults& faults_;
  Network& network_;
  Promises& promises_;
  std::size_t number_;
  engine::Draw draw_;
  proto::Envelope envelope_;

 private:
  bool connected_ = false;
};

}  // namespace hpsearch::simulation
