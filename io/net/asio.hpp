#pragma once

// The only door to Boost.Asio. <utility> comes first: Boost 1.74's awaitable.hpp needs it under g++ 12.
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "hpsearch/io/net/engine_clock.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/io/net/loop_lag.hpp"

namespace hpsearch::net {

namespace asio = boost::asio;
using AsioError = boost::system::error_code;

class SystemClocks final : public Clocks {
 public:
  [[nodiscard]] engine::Instant wall() const noexcept override;
  [[nodiscard]] engine::Instant steady() const noexcept override;
};

struct Loop::Impl {
  asio::io_context io{1};
  SystemClocks clocks;
  EngineClock clock{clocks};
  LoopLag lag;
};

}  // namespace hpsearch::net
