#include "daemon/access/busy_connections.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace hpsearch::daemon {
namespace {

TEST(BusyConnections, AreLimitedTo128PerToken) {
  BusyConnections connections;
  std::vector<std::shared_ptr<const void>> taken;
  for (std::size_t i = 0; i < 128; ++i) {
    taken.push_back(connections.take("a"));
    ASSERT_NE(taken.back(), nullptr) << i;
  }
  EXPECT_EQ(connections.take("a"), nullptr);
  EXPECT_NE(connections.take("b"), nullptr) << "each token has its own";
  EXPECT_EQ(connections.count("b"), 0U);
  taken.pop_back();
  EXPECT_NE(connections.take("a"), nullptr);
  taken.clear();
  EXPECT_EQ(connections.count("a"), 0U);
}

TEST(BusyConnections, MayOutliveTheirCounter) {
  std::shared_ptr<const void> taken;
  {
    BusyConnections connections;
    taken = connections.take("a");
  }
  taken.reset();
}

// Copies of a reply are released on the store's thread and on those beside the loop. Fails under tsan without
// a lock.
TEST(BusyConnections, AreReleasedOnAnyThread) {
  BusyConnections connections;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([first = connections.take("a"), second = connections.take("b")]() mutable {
      first.reset();
      second.reset();
    });
    EXPECT_NE(connections.take("a"), nullptr);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(connections.count("a"), 0U);
  EXPECT_EQ(connections.count("b"), 0U);
}

}  // namespace
}  // namespace hpsearch::daemon
