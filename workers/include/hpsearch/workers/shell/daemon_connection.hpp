#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/io/zmq/zmq_port.hpp"
#include "hpsearch/proto/wire/wire.hpp"
#include "hpsearch/workers/shell/worker_options.hpp"

namespace hpsearch::workers {

/// The worker's connection to its daemon. ZeroMQ restores it after failures of the network, and
/// connect_again() after keys were refused.
///
/// Threads: the loop's. The loop and the options outlive it.
class DaemonConnection {
 public:
  using OnConnected = std::function<void(bool again)>;  ///< `again`: this connection was established before.
  using OnFrame = std::function<void(proto::Framed<proto::FromDaemon> frame)>;

  DaemonConnection(net::Loop& loop, const WorkerOptions& options, OnConnected on_connected, OnFrame on_frame)
      : loop_(loop),
        options_(options),
        on_connected_(std::move(on_connected)),
        on_frame_(std::move(on_frame)) {}
  ~DaemonConnection() { *present_ = false; }
  DaemonConnection(const DaemonConnection&) = delete;
  DaemonConnection& operator=(const DaemonConnection&) = delete;

  /// Makes a new connection in place of the current one. bad_request: the daemon's address is invalid.
  [[nodiscard]] engine::Status connect();
  void close() { port_.reset(); }

  /// Connects if necessary. False: the message was not accepted.
  [[nodiscard]] bool send(const SendMessage& send);

 private:
  void take(std::span<const std::byte> frame);
  void notice_refusal(net::DealerPort::Met refusal);
  void connect_again();

  net::Loop& loop_;
  const WorkerOptions& options_;
  OnConnected on_connected_;
  OnFrame on_frame_;
  std::unique_ptr<net::DealerPort> port_;
  std::uint64_t number_ = 0;    ///< The connection's number: a late frame of an earlier one is dropped.
  bool was_connected_ = false;  ///< The current connection has been established, perhaps more than once.
  bool noticed_bad_frame_ = false;
  std::optional<net::DealerPort::Met> refusal_;  ///< The one logged last; none after a frame.
  net::Watch retry_;
  std::shared_ptr<bool> present_ = std::make_shared<bool>(true);
};

}  // namespace hpsearch::workers
