#include "simulation/cluster/faults/dishonest_peer.hpp"

#include <utility>

namespace hpsearch::simulation {

DishonestPeer::DishonestPeer(VirtualTime& time, Faults& faults, Network& network, Promises& promises,
                             std::size_t number, std::uint64_t seed, std::string_view kind)
    : time_(time),
      faults_(faults),
      network_(network),
      promises_(promises),
      number_(number),
      draw_(seed, engine::TrialNumber(number), kind) {
}

bool DishonestPeer::connected(std::function<void()> introduce) {
  if (std::exchange(connected_, true)) {
    return true;
  }
  network_.connect(number_);
  time_.after(engine::Duration::seconds(5), std::move(introduce));
  return false;
}

void DishonestPeer::say(const proto::FromWorker& message) {
  ++envelope_.msg_no;
  static_cast<void>(
      network_.send_to_daemon(number_, Frame(proto::encode(envelope_, message), envelope_.session_epoch)));
}

}  // namespace hpsearch::simulation
