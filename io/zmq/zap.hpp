#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <zmq.hpp>

namespace hpsearch::net {

/// The key that Zap admitted and whose owner sent this message; nothing where Zap was not asked.
[[nodiscard]] std::optional<std::string> admitted_key(const zmq::message_t& message);

/// Answers who may connect to the sockets of one ZeroMQ context (ZAP, rfc.zeromq.org/spec/27): with CURVE and
/// an admitted key, no others. Has to be there before a socket of the context is bound: without it
/// libzmq 4.3 lets in everybody.
///
/// Owns:    a thread, which calls `admits` and ends before the object is destroyed.
class Zap {
 public:
  /// Throws zmq::error_t.
  Zap(zmq::context_t& context, std::function<bool(const std::string& public_key)> admits);
  Zap(const Zap&) = delete;
  Zap& operator=(const Zap&) = delete;
  ~Zap();

 private:
  void answer();

  std::function<bool(const std::string&)> admits_;
  zmq::socket_t questions_;
  zmq::socket_t end_here_;
  zmq::socket_t end_there_;
  std::thread thread_;
};

}  // namespace hpsearch::net
