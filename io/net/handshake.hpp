#pragma once

#include <optional>
#include <string>
#include <zmq.hpp>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::net {

/// How the two ends of a new connection came out of making sure of each other.
enum class Handshake { succeeded, key_refused, failed };

/// Hears how the handshakes of a socket end. Made before the socket connects; goes before it does.
class Handshakes {
 public:
  /// Throws zmq::error_t.
  Handshakes(zmq::context_t& context, zmq::socket_t& socket);

  /// Readable when next() may have one; like all of libzmq's, it says so once.
  [[nodiscard]] int descriptor();
  [[nodiscard]] std::optional<Handshake> next();
  /// The same, waited for. Nothing: none ended in that time.
  [[nodiscard]] std::optional<Handshake> wait(std::chrono::milliseconds patience);

 private:
  std::optional<Handshake> receive(zmq::recv_flags flags);

  zmq::socket_t events_;
};

/// Tries a key at a port that no operator can have allowed. unavailable: it was let in, or nothing could be
/// tried.
[[nodiscard]] engine::Status strangers_are_kept_out(const std::string& endpoint,
                                                    const std::string& server_key);

}  // namespace hpsearch::net
