#pragma once

#include <cstdint>

#include "hpsearch/engine/base/draw.hpp"
#include "simulation/cluster/faults.hpp"
#include "simulation/cluster/network.hpp"
#include "simulation/cluster/promises.hpp"

namespace hpsearch::simulation {

/// Somebody who was let in and says what no honest worker says: rubbish, reports of other workers' attempts, leases
/// nobody granted, epochs nobody reached, other workers' names.
class Stranger {
 public:
  Stranger(VirtualTime& time, Faults& faults, Network& network, Promises& promises, std::size_t number,
           std::uint64_t seed);

  void act(Fault kind, const std::string& some_uid);
  void hear(const Frame& frame);

 private:
  void say(const proto::FromWorker& message);
  void introduce(const std::string& uid, std::uint64_t incarnation);
  [[nodiscard]] engine::AttemptKey some_attempt(bool forged);

  VirtualTime& time_;
  Faults& faults_;
  Network& network_;
  Promises& promises_;
  std::size_t number_;
  engine::Draw draw_;
  proto::Envelope envelope_;
  bool connected_ = false;
  std::uint64_t names_ = 0;  // It goes by so many more on its one connection.
};

}  // namespace hpsearch::simulation
