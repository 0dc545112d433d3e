#include "simulation/cluster/nodes/network.hpp"

#include <algorithm>
#include <utility>

namespace hpsearch::simulation {
namespace {

using engine::Duration;
using engine::Instant;

constexpr std::size_t remembered_frames = 32;
// As TCP finds out about what is not acknowledged.
constexpr Duration silent_for = Duration::seconds(20);
constexpr Duration try_again = Duration::seconds(2);

}  // namespace

Network::Network(VirtualTime& time, Faults& faults, std::uint64_t seed, std::size_t workers,
                 std::size_t dishonest, Ends ends)
    : time_(time),
      faults_(faults),
      draw_(seed, engine::TrialNumber(0), "network"),
      ends_(std::move(ends)),
      honest_(workers - dishonest),
      cables_(workers) {
}

Duration Network::delay() {
  const Duration usual = Duration::micros(static_cast<std::int64_t>(200 + draw_.below(5'000)));
  if (faults_.strikes(Fault::frame_slow)) {
    return usual + Duration::micros(static_cast<std::int64_t>(draw_.below(12'000'000)));
  }
  return usual;
}

Instant Network::due(Instant& last) {
  const Instant in_order = std::max(last + Duration::micros(1), time_.now() + delay());
  if (faults_.strikes(Fault::frame_overtaken)) {
    return in_order + Duration::micros(static_cast<std::int64_t>(draw_.below(3'000'000)));
  }
  return last = in_order;
}

void Network::mix(const proto::Bytes& frame, std::uint64_t salt) {
  const auto add = [this](std::uint64_t value) { digest_ = (digest_ ^ value) * 1099511628211U; };
  add(static_cast<std::uint64_t>(time_.now().micros()));
  add(salt);
  for (std::size_t at = 0; at < frame.size(); at += 7) {
    add(static_cast<std::uint64_t>(frame[at]));
  }
  ++frames_;
}

bool Network::honest(const net::Peer& peer) const {
  const auto found = by_peer_.find(peer);
  return found != by_peer_.end() && found->second->worker < honest_;
}

bool Network::same_worker(const net::Peer& a, const net::Peer& b) const {
  const auto one = by_peer_.find(a);
  const auto other = by_peer_.find(b);
  return one == by_peer_.end() || (other != by_peer_.end() && one->second->worker == other->second->worker);
}

void Network::daemon_listens() {
  listening_ = true;
}

void Network::daemon_is_gone() {
  listening_ = false;
  for (Cable& cable : cables_) {
    cable.past.clear();  // Connections to the next daemon are new ones, with new keys.
    if (!cable.said.empty()) {
      cable.said_before = std::exchange(cable.said, {});
    }
    if (cable.connection) {
      break_off(Held(cable.connection));
    }
  }
  by_peer_.clear();
}

void Network::connect(std::size_t worker) {
  disconnect(worker);
  auto connection = std::make_shared<Connection>();
  connection->worker = worker;
  cables_[worker].connection = connection;
  establish(connection);
}

void Network::disconnect(std::size_t worker) {
  const Held old = std::exchange(cables_[worker].connection, nullptr);
  if (!old) {
    return;
  }
  old->wanted = false;
  old->established = false;
  // What it sent is under way still; then the daemon's end learns that it was closed.
  time_.at(std::max(old->last_up, time_.now()) + delay(), [this, old] {
    old->known = false;
    by_peer_.erase(old->peer);
  });
}

void Network::worker_is_gone(std::size_t worker) {
  disconnect(worker);
  cables_[worker].past.clear();
  cables_[worker].said.clear();
  cables_[worker].said_before.clear();
}

void Network::establish(const Held& connection) {
  time_.after(delay(), [this, connection] {
    if (!connection->wanted || connection->established) {
      return;
    }
    const Cable& cable = cables_[connection->worker];
    const Instant now = time_.now();
    if (listening_ && cable.up_blocked_until <= now && cable.down_blocked_until <= now) {
      open(connection);
    } else {
      time_.after(try_again, [this, connection] { establish(connection); });
    }
  });
}

void Network::open(const Held& connection) {
  connection->peer = "peer " + std::to_string(++peers_);
  connection->established = true;
  connection->known = true;
  by_peer_[connection->peer] = connection;
}

/// Both ends see it break; the worker's connects again by itself.
void Network::break_off(const Held& connection) {
  by_peer_.erase(connection->peer);
  connection->known = false;
  connection->wanted = false;
  connection->established = false;
  if (cables_[connection->worker].connection == connection) {
    auto next = std::make_shared<Connection>();
    next->worker = connection->worker;
    cables_[connection->worker].connection = next;
    establish(next);
  }
}

void Network::reset(std::size_t worker) {
  if (const Held connection = cables_[worker].connection) {
    break_off(connection);
  }
}

void Network::lose_silently(std::size_t worker) {
  const Held old = cables_[worker].connection;
  if (!old || !old->established || !listening_) {
    return;
  }
  break_off(old);
  open(cables_[worker].connection);
}

bool Network::send_to_daemon(std::size_t worker, Frame frame) {
  Cable& cable = cables_[worker];
  const Held connection = cable.connection;
  if (!connection || !connection->established || faults_.strikes(Fault::queue_full)) {
    return false;
  }
  remember(cable.past, frame);
  if (cable.up_blocked_until > time_.now()) {
    connection->held_up.push_back(std::move(frame));
  } else {
    carry_up(connection, frame);
  }
  return true;
}

bool Network::send_to_worker(const net::Peer& peer, Frame frame) {
  const auto found = by_peer_.find(peer);
  if (found == by_peer_.end() || !found->second->known || faults_.strikes(Fault::queue_full)) {
    return false;
  }
  const Held connection = found->second;
  remember(cables_[connection->worker].said, frame);
  if (cables_[connection->worker].down_blocked_until > time_.now()) {
    connection->held_down.push_back(std::move(frame));
  } else {
    carry_down(connection, frame);
  }
  return true;
}

void Network::carry_up(const Held& connection, const Frame& frame) {
  if (faults_.strikes(Fault::frame_lost)) {
    return;
  }
  const Instant due = this->due(connection->last_up);
  most_under_way_ = std::max(most_under_way_, connection->under_way += frame->size());
  const bool twice = faults_.strikes(Fault::frame_duplicated);
  time_.at(due, [this, connection, frame] {
    connection->under_way -= frame->size();
    arrive_up(connection, frame);
  });
  if (twice) {
    time_.at(due + delay() + delay(), [this, connection, frame] { arrive_up(connection, frame); });
  }
}

void Network::remember(std::deque<Frame>& past, const Frame& frame) {
  past.push_back(frame);
  if (past.size() > remembered_frames) {
    past.pop_front();
  }
}

void Network::arrive_up(const Held& connection, const Frame& frame) {
  if (!connection->known) {
    return;
  }
  mix(*frame, connection->worker);
  if (tell_) {
    const auto framed = proto::decode_from_worker(*frame);
    tell_(connection->peer + " of worker " + std::to_string(connection->worker) + " -> daemon  " +
          (framed ? proto::name_of(framed->message) : "rubbish") +
          (framed ? " session " + std::to_string(framed->envelope.session_epoch) : ""));
  }
  ends_.daemon(connection->peer, connection->worker, frame);
}

void Network::carry_down(const Held& connection, const Frame& frame) {
  if (faults_.strikes(Fault::frame_lost)) {
    return;
  }
  const Instant due = this->due(connection->last_down);
  most_under_way_ = std::max(most_under_way_, connection->under_way += frame->size());
  const bool twice = faults_.strikes(Fault::frame_duplicated);
  time_.at(due, [this, connection, frame] {
    connection->under_way -= frame->size();
    arrive_down(connection, frame);
  });
  if (twice) {
    time_.at(due + delay() + delay(), [this, connection, frame] { arrive_down(connection, frame); });
  }
}

void Network::arrive_down(const Held& connection, const Frame& frame) {
  if (!connection->wanted || !connection->established) {
    return;
  }
  mix(*frame, ~std::uint64_t{connection->worker});
  if (tell_) {
    const auto framed = proto::decode_from_daemon(*frame);
    tell_("daemon -> " + connection->peer + " of worker " + std::to_string(connection->worker) + "  " +
          (framed ? proto::name_of(framed->message) : "rubbish") +
          (framed ? " session " + std::to_string(framed->envelope.session_epoch) : ""));
  }
  ends_.worker(connection->worker, frame);
}

void Network::block(std::size_t worker, bool to_daemon, bool to_worker, Duration time) {
  Cable& cable = cables_[worker];
  const Instant until = time_.now() + time;
  if (to_daemon) {
    cable.up_blocked_until = std::max(cable.up_blocked_until, until);
  }
  if (to_worker) {
    cable.down_blocked_until = std::max(cable.down_blocked_until, until);
  }
  time_.at(until, [this, worker] { flush(worker); });
  if (time > silent_for) {
    time_.after(silent_for, [this, worker, connection = cable.connection] {
      const Cable& then = cables_[worker];
      const bool blocked = then.up_blocked_until > time_.now() || then.down_blocked_until > time_.now();
      if (blocked && connection && then.connection == connection) {
        break_off(connection);
      }
    });
  }
}

void Network::flush(std::size_t worker) {
  Cable& cable = cables_[worker];
  const Held connection = cable.connection;
  if (!connection) {
    return;
  }
  if (cable.up_blocked_until <= time_.now()) {
    for (const Frame& frame : std::exchange(connection->held_up, {})) {
      carry_up(connection, frame);
    }
  }
  if (cable.down_blocked_until <= time_.now()) {
    for (const Frame& frame : std::exchange(connection->held_down, {})) {
      carry_down(connection, frame);
    }
  }
}

void Network::replay(std::size_t worker) {
  const Cable& cable = cables_[worker];
  if (cable.connection && cable.connection->established && !cable.past.empty()) {
    carry_up(cable.connection, cable.past[draw_.below(cable.past.size())]);
    faults_.struck(Fault::frame_replayed);
  }
}

void Network::speak_as_before(std::size_t worker) {
  const Cable& cable = cables_[worker];
  if (cable.connection && cable.connection->established && !cable.said_before.empty()) {
    carry_down(cable.connection, cable.said_before[draw_.below(cable.said_before.size())]);
    faults_.struck(Fault::frame_of_an_earlier_daemon);
  }
}

void Network::heal() {
  for (std::size_t worker = 0; worker < cables_.size(); ++worker) {
    cables_[worker].up_blocked_until = time_.now();
    cables_[worker].down_blocked_until = time_.now();
    flush(worker);
  }
}

}  // namespace hpsearch::simulation
