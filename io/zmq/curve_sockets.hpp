#pragma once

#include <zmq.hpp>

#include "zmq/curve_bytes.hpp"

namespace hpsearch::net {

/// Makes the socket one that speaks CURVE to that server. Throws zmq::error_t.
inline void show_keys(zmq::socket_t& socket, const CurveClient& curve) {
  socket.set(zmq::sockopt::curve_serverkey, zmq::buffer(bytes_of_key(curve.server_key)));
  socket.set(zmq::sockopt::curve_publickey, zmq::buffer(bytes_of_key(curve.keys.public_key)));
  socket.set(zmq::sockopt::curve_secretkey, zmq::buffer(bytes_of_key(curve.keys.secret_key)));
}

/// Makes it the server that has these keys. Throws zmq::error_t.
inline void demand_keys(zmq::socket_t& socket, const CurveKeys& keys) {
  socket.set(zmq::sockopt::curve_server, true);
  socket.set(zmq::sockopt::curve_secretkey, zmq::buffer(bytes_of_key(keys.secret_key)));
}

}  // namespace hpsearch::net
