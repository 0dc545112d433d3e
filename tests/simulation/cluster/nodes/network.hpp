#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/io/zmq/peer_port.hpp"
#include "hpsearch/proto/wire/wire.hpp"
#include "simulation/cluster/faults/faults.hpp"
#include "simulation/cluster/nodes/virtual_time.hpp"

namespace hpsearch::simulation {

/// A frame under way, and the session its envelope names: whoever watches need not decode it once more.
struct Frame {
  std::shared_ptr<const proto::Bytes> bytes;
  std::uint64_t session = 0;

  Frame() = default;
  Frame(proto::Bytes encoded, std::uint64_t of_session)
      : bytes(std::make_shared<const proto::Bytes>(std::move(encoded))), session(of_session) {}
  const proto::Bytes& operator*() const noexcept { return *bytes; }
  const proto::Bytes* operator->() const noexcept { return bytes.get(); }
};

/// The wires between workers and the daemon, as a DEALER and a ROUTER over TCP show them: frames of one
/// connection arrive in order or, when it breaks, not at all; those of an old connection may arrive after
/// those of a newer one; who sends into a broken one may not notice; the DEALER connects again by itself, as
/// another peer.
///
/// Beyond that, as TCP does not: single frames are lost, come twice or are overtaken by later ones, and
/// frames of older sessions are played back.
class Network {
 public:
  struct Ends {
    std::function<void(const net::Peer& peer, std::size_t worker, const Frame& frame)> daemon;
    std::function<void(std::size_t worker, const Frame& frame)> worker;
  };

  /// The last `dishonest` of the `workers` are strangers and liars.
  Network(VirtualTime& time, Faults& faults, std::uint64_t seed, std::size_t workers, std::size_t dishonest,
          Ends ends);
  [[nodiscard]] bool honest(const net::Peer& peer) const;
  /// Connections that broke belong to nobody's worker any more, so to the same as all others.
  [[nodiscard]] bool same_worker(const net::Peer& a, const net::Peer& b) const;

  /// The connection is there, as the daemon's end sees it.
  [[nodiscard]] bool knows(const net::Peer& peer) const { return by_peer_.contains(peer); }

  /// Tells what arrives, for people.
  void watch(std::function<void(const std::string&)> tell) { tell_ = std::move(tell); }

  // --- what the two ends do ---
  void daemon_listens();
  void daemon_is_gone();  ///< All connections break; what was under way is lost.
  bool send_to_worker(const net::Peer& peer, Frame frame);
  void connect(std::size_t worker);  ///< Anew: the old connection is closed.
  void disconnect(std::size_t worker);
  void worker_is_gone(
      std::size_t worker);  ///< Nobody plays its frames back on the connections of its next process.
  bool send_to_daemon(std::size_t worker, Frame frame);

  // --- what goes wrong ---
  void reset(std::size_t worker);
  void lose_silently(std::size_t worker);
  void block(std::size_t worker, bool to_daemon, bool to_worker, engine::Duration time);
  void replay(std::size_t worker);
  /// Something a daemon that has ended had said to this worker arrives once more.
  void speak_as_before(std::size_t worker);
  void heal();

  [[nodiscard]] std::uint64_t frames() const noexcept { return frames_; }
  [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }
  [[nodiscard]] std::size_t most_under_way() const noexcept { return most_under_way_; }

 private:
  struct Connection {
    std::size_t worker = 0;
    net::Peer peer;
    bool wanted = true;        // By the worker's end.
    bool established = false;  // As the worker's end sees it.
    bool known = false;        // To the daemon's end.
    engine::Instant last_up;
    engine::Instant last_down;
    std::size_t under_way = 0;
    std::vector<Frame> held_up;
    std::vector<Frame> held_down;
  };
  using Held = std::shared_ptr<Connection>;
  struct Cable {
    Held connection;
    engine::Instant up_blocked_until;
    engine::Instant down_blocked_until;
    std::deque<Frame> past;         // Frames to the daemon, of whatever session.
    std::deque<Frame> said;         // By the daemon.
    std::deque<Frame> said_before;  // By the one before it.
  };

  [[nodiscard]] engine::Duration delay();
  /// When what leaves now arrives: behind what left before it, as `last` says.
  [[nodiscard]] engine::Instant due(engine::Instant& last);
  static void remember(std::deque<Frame>& past, const Frame& frame);
  void establish(const Held& connection);
  void open(const Held& connection);
  void break_off(const Held& connection);
  void carry_up(const Held& connection, const Frame& frame);
  void carry_down(const Held& connection, const Frame& frame);
  void arrive_up(const Held& connection, const Frame& frame);
  void arrive_down(const Held& connection, const Frame& frame);
  void flush(std::size_t worker);
  void mix(const proto::Bytes& frame, std::uint64_t salt);

  VirtualTime& time_;
  Faults& faults_;
  engine::Draw draw_;
  Ends ends_;
  std::function<void(const std::string&)> tell_;
  bool listening_ = false;
  std::size_t honest_;  // So many are, the first.
  std::uint64_t peers_ = 0;
  std::vector<Cable> cables_;
  std::map<net::Peer, Held> by_peer_;
  std::uint64_t frames_ = 0;
  std::uint64_t digest_ = 14695981039346656037U;
  std::size_t most_under_way_ = 0;
};

}  // namespace hpsearch::simulation
