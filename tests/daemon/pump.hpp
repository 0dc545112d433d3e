#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "hpsearch/io/net/loop.hpp"

namespace hpsearch::daemon {

/// Runs the loop until `done`, or fails the test after a timeout.
inline void pump(net::Loop& loop, const std::function<bool()>& done,
                 std::chrono::milliseconds patience = std::chrono::minutes(5)) {
  const auto limit = std::chrono::steady_clock::now() + patience;
  const net::Watch look = loop.every(std::chrono::milliseconds(1), [&] {
    if (done()) {
      loop.stop();
    } else if (std::chrono::steady_clock::now() > limit) {
      ADD_FAILURE() << "what was waited for did not happen";
      loop.stop();
    }
  });
  loop.run();
}

/// Runs the loop for that long.
inline void pump_for(net::Loop& loop, std::chrono::milliseconds time) {
  const net::Watch end = loop.after(time, [&] { loop.stop(); });
  loop.run();
}

}  // namespace hpsearch::daemon
