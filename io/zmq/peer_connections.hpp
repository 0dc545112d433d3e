#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <zmq.hpp>

namespace hpsearch::net {

/// The TCP connections of a ROUTER, each with what came over it and made no whole message. libzmq counts
/// whole messages only: one that never ends may grow without limit, and nothing of it is ever delivered. This
/// closes such a connection.
///
/// A connection is closed when more than a frame came over it, and between two looks nothing of it was
/// delivered although the socket had nothing left to deliver: only a message of several parts does that.
/// Before a peer has shown an admitted key it may send a few KiB.
///
/// Threads: the loop's.
class PeerConnections {
 public:
  struct Limits {
    std::uint64_t frame_bytes = 0;
    bool expects_keys = false;  ///< CURVE is spoken.
  };

  /// Made before the socket is bound; goes before it does. Throws zmq::error_t.
  PeerConnections(zmq::context_t& context, zmq::socket_t& socket, Limits limits);

  /// To be called with each whole message that is received. Nothing for peers that are not on TCP.
  void heard(zmq::message_t& payload);
  /// Closes the connection over which this came. False: it is not on TCP, or has ended.
  bool cut(zmq::message_t& payload);

  /// To be called ten times a second. `drained`: the socket had nothing left to deliver since the last look.
  void look(bool drained);

 private:
  struct Connection {
    bool ever_heard = false;
    std::uint64_t heard = 0;    ///< Bytes of the messages since the last look.
    std::uint64_t taken = 0;    ///< Bytes that had come at the last look.
    std::uint64_t unheard = 0;  ///< How many of these have sent no message yet.
  };

  void take_events();
  /// libzmq finds the end of the stream and closes the descriptor, which is its own.
  bool end_connection(int descriptor) const;
  /// False when it is to be forgotten.
  bool look_at(int descriptor, Connection& connection, bool drained) const;
  [[nodiscard]] bool is_excessive(const Connection& connection, std::uint64_t unheard,
                                  std::uint64_t acknowledged, bool drained) const;

  Limits limits_;
  zmq::socket_t& socket_;
  zmq::socket_t events_;
  std::map<int, Connection> connections_;  ///< By descriptor.
  std::set<int> never_heard_;              ///< Those of them; looked at each time.
  int next_ = 0;                           ///< Where the next look goes on.
};

}  // namespace hpsearch::net
