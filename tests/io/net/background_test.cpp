#include "hpsearch/io/net/background.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

#include "hpsearch/io/net/loop.hpp"

namespace hpsearch::net {
namespace {

/// While it lives no thread can be begun.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t vast;
    ::pthread_attr_init(&vast);
    ::pthread_attr_setstacksize(&vast, std::size_t{1} << 46);
    ::pthread_setattr_default_np(&vast);
    ::pthread_attr_destroy(&vast);
  }
  ~NoMoreThreads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

TEST(Background, WaitsForAThread) {
  Loop loop;
  Background background(loop);
  std::atomic<int> ran = 0;
  int count = 0;
  const auto task = [&] {
    ++ran;
    return [&] {
      if (++count == 2) {
        loop.stop();
      }
    };
  };
  {
    const NoMoreThreads scarcity;
    ASSERT_THROW(std::thread([] {}).join(), std::system_error) << "the test takes no threads away";
    background.run(task);
    background.run(task);
    const Watch soon = loop.after(std::chrono::milliseconds(50), [&] { loop.stop(); });
    loop.run();
    EXPECT_EQ(ran, 0);
  }
  const Watch patience = loop.after(std::chrono::seconds(30), [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(count, 2);
}

TEST(Background, RunsAtMostSoManyTasksAtOnce) {
  constexpr int tasks = 20;
  Loop loop;
  Background background(loop, 2);
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  int done = 0;
  for (int number = 0; number < tasks; ++number) {
    background.run([&]() -> Background::Afterwards {
      const int now = ++running;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      --running;
      return [&] {
        if (++done == tasks) {
          loop.stop();
        }
      };
    });
  }
  const Watch patience = loop.after(std::chrono::seconds(30), [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(done, tasks);
  EXPECT_LE(most, 2);
}

TEST(Background, ThatEndsDoesNotWaitForThreads) {
  Loop loop;
  bool ran = false;
  const NoMoreThreads scarcity;
  {
    Background background(loop);
    background.run([&] {
      ran = true;
      return [] {};
    });
  }
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace hpsearch::net
