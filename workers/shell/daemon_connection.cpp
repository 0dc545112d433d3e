#include "hpsearch/workers/shell/daemon_connection.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "hpsearch/io/net/log.hpp"

namespace hpsearch::workers {

using engine::Done;
using engine::Result;
using engine::Status;

namespace {

// After the daemon refused this worker's key, or the daemon's key isn't the expected one.
constexpr std::chrono::seconds retry_after_refusal{3};

}  // namespace

Status DaemonConnection::connect() {
  retry_ = net::Watch{};
  const std::uint64_t number = ++number_;
  was_connected_ = false;
  // Handlers may replace the port, which must not happen while the port calls them.
  const auto later = [this, number](auto task) {
    loop_.post([this, present = present_, number, task = std::move(task)] {
      if (*present && number == number_) {
        task();
      }
    });
  };
  auto port = net::DealerPort::connect(
      loop_, options_.daemon, proto::max_frame_bytes,
      [this, later](std::span<const std::byte> frame) {
        later([this, bytes = proto::Bytes(frame.begin(), frame.end())] { take(bytes); });
      },
      options_.curve,
      [this, later](net::DealerPort::Met met) {
        if (met != net::DealerPort::Met::connected) {
          notice_refusal(met);
          return;
        }
        later([this, again = std::exchange(was_connected_, true)] { on_connected_(again); });
      },
      options_.over_ipv6);
  if (!port) {
    return port.error();
  }
  port_ = *std::move(port);
  noticed_bad_frame_ = false;
  return Done{};
}

bool DaemonConnection::send(const SendMessage& send) {
  const proto::Bytes frame = proto::encode(send.envelope, send.message);
  if (frame.size() > proto::max_frame_bytes) {
    net::log(net::Level::error, std::string("a ") + proto::name_of(send.message) + " of " +
                                    std::to_string(frame.size()) + " bytes is too large to send");
    return true;
  }
  const bool is_open = port_ || connect();
  return is_open && port_->send(frame);
}

void DaemonConnection::connect_again() {
  retry_ = loop_.after(retry_after_refusal, [this] {
    if (const Status connected = connect(); !connected) {
      net::log(net::Level::warning, connected.error().message);
      connect_again();
    }
  });
}

/// Logs a refusal once until a frame comes. libzmq gives up such a connection, but the key may be allowed at
/// any time: a new connection is made as long as the worker runs.
void DaemonConnection::notice_refusal(net::DealerPort::Met refusal) {
  connect_again();
  if (std::exchange(refusal_, refusal) == refusal) {
    return;
  }
  const std::string whose = "the daemon at " + options_.daemon;
  if (refusal == net::DealerPort::Met::key_refused) {
    net::log(net::Level::warning,
             whose +
                 " does not allow this worker's key. Join with an invite (hpsearch worker invite), or on its "
                 "machine: hpsearch keys allow STATE_DIR " +
                 options_.name + " " + options_.curve->keys.public_key);
  } else {
    net::log(
        net::Level::warning,
        whose + (options_.curve
                     ? " has another key than --server-key, --server-key-file or the invite gave, or "
                       "runs with --workers-open"
                     : " demands keys: join with an invite (hpsearch worker invite), or give --server-key "
                       "or --server-key-file (hpsearch keys list)"));
  }
}

void DaemonConnection::take(std::span<const std::byte> frame) {
  refusal_.reset();
  Result<proto::Framed<proto::FromDaemon>> decoded = proto::decode_from_daemon(frame);
  if (!decoded) {
    if (!std::exchange(noticed_bad_frame_, true)) {
      net::log(net::Level::warning, "the daemon sent something unreadable: " + decoded.error().message);
    }
    return;
  }
  on_frame_(*std::move(decoded));
}

}  // namespace hpsearch::workers
