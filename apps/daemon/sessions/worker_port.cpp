#include "daemon/sessions/worker_port.hpp"

#include <memory>
#include <utility>

#include "hpsearch/io/zmq/zmq_port.hpp"
#include "hpsearch/proto/wire/wire.hpp"

namespace hpsearch::daemon {

WorkerSessions::OpenPort router_port(net::Loop& loop, std::string endpoint,
                                     std::optional<net::CurveServer> curve) {
  return [&loop, endpoint = std::move(endpoint), curve = std::move(curve)](
             net::PeerPort::OnFrame on_frame) -> engine::Result<std::unique_ptr<net::PeerPort>> {
    auto bound = net::RouterPort::bind(loop, endpoint, proto::max_frame_bytes, std::move(on_frame), curve);
    if (!bound) {
      return bound.error();
    }
    return std::unique_ptr<net::PeerPort>(std::move(bound).value());
  };
}

}  // namespace hpsearch::daemon
