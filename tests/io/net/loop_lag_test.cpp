#include "hpsearch/io/net/loop_lag.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <thread>

#include "hpsearch/io/http/http.hpp"

namespace hpsearch::net {
namespace {

using namespace std::chrono_literals;

// Work that tests count instead of time.
std::uint64_t units = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::uint64_t count_of_units() {
  return units;
}

TEST(LoopLag, TheLongestTurnIsReportedOnce) {
  Loop loop;
  LoopLag& lag = lag_of(loop);
  lag.set_meter(&count_of_units);
  for (const std::uint64_t work : {3U, 7U, 5U}) {
    loop.post([work] { units += work; });
  }
  const Watch timer = loop.after(1ms, [&loop] {
    units += 6;
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(lag.take_longest_turn(), 7U);
  EXPECT_EQ(lag.take_longest_turn(), 0U);
}

TEST(LoopLag, TimersAreTurns) {
  Loop loop;
  LoopLag& lag = lag_of(loop);
  lag.set_meter(&count_of_units);
  const Watch timer = loop.after(1ms, [&loop] {
    units += 11;
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(lag.take_longest_turn(), 11U);
}

TEST(LoopLag, AnswersOfAnHttpServerAreTurns) {
  Loop loop;
  LoopLag& lag = lag_of(loop);
  lag.set_meter(&count_of_units);
  auto server =
      HttpServer::listen(loop, "127.0.0.1:0", [&](const HttpRequest&, const HttpServer::Reply& reply) {
        units += 13;
        reply({});
        loop.post([&loop] { loop.stop(); });
      });
  ASSERT_TRUE(server) << server.error().message;
  std::thread client(
      [address = (*server)->address()] { static_cast<void>(http_request(address, "GET", "/", "", 10s)); });
  loop.run();
  EXPECT_EQ(lag.take_longest_turn(), 13U);
  server->reset();
  client.join();
}

TEST(LoopLag, LatenessFallsIntoTheBucketOfItsBound) {
  Loop loop;
  LoopLag& lag = lag_of(loop);
  lag.was_late(-1ms);
  lag.was_late(500us);
  lag.was_late(600us);
  lag.was_late(19ms);
  lag.was_late(6s);
  const LoopLag::Lateness& lateness = lag.lateness();
  EXPECT_EQ(lateness.counts, (decltype(lateness.counts){2, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1}));
  EXPECT_NEAR(lateness.sum_seconds, 6.0201, 1e-9);
}

TEST(LoopLag, ATimerIsLookedAtAgainAndAgain) {
  Loop loop;
  const Watch looks = watch_lateness(loop);
  const auto counted = [&loop] {
    const auto& counts = lag_of(loop).lateness().counts;
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  };
  const Watch end = loop.every(1ms, [&] {
    if (counted() >= 3) {
      loop.stop();
    }
  });
  loop.run();
  EXPECT_GE(counted(), 3U);
}

}  // namespace
}  // namespace hpsearch::net
