#include "simulation/cluster/faults/foreign_store.hpp"

#include <utility>
#include <variant>

#include "simulation/cluster/faults/probes.hpp"

namespace hpsearch::simulation {
namespace {

constexpr std::uint64_t foreign_cluster = 0xF0F0F0F0F0F0F0F0;

}  // namespace

void ForeignStore::on_event(const net::Peer& peer, const Frame& frame) {
  const auto framed = proto::decode_from_worker(*frame);
  const auto* hello = framed ? std::get_if<proto::Hello>(&framed->message) : nullptr;
  if (hello == nullptr) {
    return;
  }
  proto::Envelope envelope{.cluster = foreign_cluster, .daemon_epoch = 1};
  proto::FromDaemon answer;
  if (framed->envelope.cluster != 0 && framed->envelope.cluster != foreign_cluster) {
    reached(Probe::refused_by_another_store);
    answer =
        proto::Refused{"the worker's state directory belongs to another daemon's store", hello->incarnation};
  } else {
    reached(Probe::welcomed_by_another_store);
    envelope.session_epoch = ++sessions_;
    envelope.msg_no = 1;
    proto::Welcome welcome;
    welcome.worker = engine::WorkerId{1};
    welcome.beat_every_ms = 10'000;
    for (const engine::HeldAttempt& held : hello->held) {
      welcome.attempts.push_back({.key = held.key, .fate = engine::WelcomeWorker::Fate::fenced});
    }
    answer = std::move(welcome);
  }
  static_cast<void>(
      network_.send_to_worker(peer, Frame(proto::encode(envelope, answer), envelope.session_epoch)));
}

}  // namespace hpsearch::simulation
