#include "hpsearch/io/net/loop.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hpsearch/io/net/engine_clock.hpp"

namespace hpsearch::net {
namespace {

using namespace std::chrono_literals;

TEST(Loop, EndsWhenNothingIsLeftToWaitFor) {
  Loop loop;
  bool ran = false;
  loop.post([&] { ran = true; });
  loop.run();
  EXPECT_TRUE(ran);
}

TEST(Loop, RunsPostsInTheirOrder) {
  Loop loop;
  std::vector<int> seen;
  for (int i = 0; i < 100; ++i) {
    loop.post([&seen, i] { seen.push_back(i); });
  }
  loop.run();
  ASSERT_EQ(seen.size(), 100U);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST(Loop, TakesPostsFromOtherThreads) {
  Loop loop;
  int count = 0;
  const Watch alive = loop.every(1h, [] {});
  std::thread other([&] {
    for (int i = 0; i < 1'000; ++i) {
      loop.post([&] {
        if (++count == 1'000) {
          loop.stop();
        }
      });
    }
  });
  loop.run();
  other.join();
  EXPECT_EQ(count, 1'000);
}

TEST(Loop, RunsAgainAfterStop) {
  Loop loop;
  loop.post([&] { loop.stop(); });
  loop.run();
  bool ran = false;
  loop.post([&] { ran = true; });
  loop.run();
  EXPECT_TRUE(ran);
}

TEST(Loop, TimersFireInTheOrderOfTheirDelays) {
  Loop loop;
  std::string seen;
  const auto began = std::chrono::steady_clock::now();
  const Watch late = loop.after(30ms, [&] { seen += 'c'; });
  const Watch early = loop.after(10ms, [&] { seen += 'a'; });
  const Watch middle = loop.after(20ms, [&] { seen += 'b'; });
  loop.run();
  EXPECT_EQ(seen, "abc");
  EXPECT_GE(std::chrono::steady_clock::now() - began, 30ms);
}

TEST(Loop, DroppedTimerNeverFires) {
  Loop loop;
  bool fired = false;
  Watch timer = loop.after(1ms, [&] { fired = true; });
  timer = Watch{};
  loop.run();
  EXPECT_FALSE(fired);
}

TEST(Loop, PeriodicTimerMayDropItself) {
  Loop loop;
  int ticks = 0;
  Watch timer;
  timer = loop.every(1ms, [&] {
    if (++ticks == 5) {
      timer = Watch{};
    }
  });
  loop.run();
  EXPECT_EQ(ticks, 5);
}

TEST(Loop, StallSkipsTicksInsteadOfMakingUpForThem) {
  Loop loop;
  int ticks = 0;
  Watch timer;
  timer = loop.every(5ms, [&] {
    if (++ticks == 1) {
      std::this_thread::sleep_for(100ms);
    } else {
      timer = Watch{};
    }
  });
  loop.run();
  EXPECT_EQ(ticks, 2);
}

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(ends_[0]);
    close_writer();
  }
  void close_writer() {
    if (ends_[1] >= 0) {
      ::close(ends_[1]);
      ends_[1] = -1;
    }
  }
  [[nodiscard]] int reader() const { return ends_[0]; }
  void write(std::string_view text) const {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  [[nodiscard]] std::string read(std::size_t most) const {
    std::string text(most, '\0');
    const ssize_t size = ::read(ends_[0], text.data(), most);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

TEST(Loop, DescriptorStaysReadableUntilItIsRead) {
  Loop loop;
  const Pipe pipe;
  std::string seen;
  Watch watch;
  watch = loop.when_readable(pipe.reader(), [&] {
    seen += pipe.read(1);  // One byte per call: the watch has to call again for the rest.
    if (seen.size() == 5) {
      watch = Watch{};
    }
  });
  pipe.write("hello");
  loop.run();
  EXPECT_EQ(seen, "hello");
}

TEST(Loop, DescriptorTellsItsEnd) {
  Loop loop;
  Pipe pipe;
  bool ended = false;
  Watch watch;
  watch = loop.when_readable(pipe.reader(), [&] {
    ended = pipe.read(1).empty();
    watch = Watch{};
  });
  pipe.close_writer();
  loop.run();
  EXPECT_TRUE(ended);
}

TEST(Loop, UnwatchedDescriptorStaysOpenAndCanBeWatchedAgain) {
  Loop loop;
  const Pipe pipe;
  Watch watch = loop.when_readable(pipe.reader(), [] {});
  watch = Watch{};
  pipe.write("x");
  std::string seen;
  watch = loop.when_readable(pipe.reader(), [&] {
    seen = pipe.read(1);
    watch = Watch{};
  });
  loop.run();
  EXPECT_EQ(seen, "x");
}

TEST(Loop, SignalsArriveAsNumbers) {
  Loop loop;
  std::vector<int> seen;
  Watch watch;
  watch = loop.on_signals({SIGUSR1, SIGUSR2}, [&](int number) {
    seen.push_back(number);
    if (seen.size() == 1) {
      ::raise(SIGUSR2);
    } else {
      watch = Watch{};
    }
  });
  loop.post([] { ::raise(SIGUSR1); });
  loop.run();
  EXPECT_EQ(seen, (std::vector<int>{SIGUSR1, SIGUSR2}));
}

TEST(Loop, ClockIsCloseToTheWallClockAndNeverGoesBack) {
  const Loop loop;
  const auto wall = std::chrono::duration_cast<std::chrono::microseconds>(
                        std::chrono::system_clock::now().time_since_epoch())
                        .count();
  auto last = loop.now();
  EXPECT_NEAR(static_cast<double>(last.micros() - wall), 0, 1e6);
  for (int i = 0; i < 10'000; ++i) {
    const auto next = loop.now();
    EXPECT_LE(last, next);
    last = next;
  }
}

TEST(Loop, ClockGoesOnFromAnInstantAheadOfTheWallClock) {
  Loop loop;
  const auto ahead = loop.now() + engine::Duration::seconds(3'600);
  loop.start_clock_at_least(ahead);
  const auto present = loop.now();
  EXPECT_GE(present, ahead);
  EXPECT_LT(present - ahead, engine::Duration::seconds(10));
}

struct SetClocks final : Clocks {
  [[nodiscard]] engine::Instant wall() const noexcept override { return date; }
  [[nodiscard]] engine::Instant steady() const noexcept override { return since_boot; }
  engine::Instant date = engine::Instant::from_micros(1'000'000'000);
  engine::Instant since_boot = engine::Instant::from_micros(5);
};

TEST(EngineClock, IgnoresTheWallClockAfterTheStart) {
  SetClocks clocks;
  const EngineClock clock(clocks);
  EXPECT_EQ(clock.now(), engine::Instant::from_micros(1'000'000'000));
  clocks.since_boot = clocks.since_boot + engine::Duration::seconds(1);
  for (const std::int64_t date : {0L, 7L, 9'000'000'000'000L}) {
    clocks.date = engine::Instant::from_micros(date);
    EXPECT_EQ(clock.now(), engine::Instant::from_micros(1'001'000'000));
  }
}

TEST(EngineClock, KnowsHowFarTheWallClockWasSet) {
  SetClocks clocks;
  EngineClock clock(clocks);
  EXPECT_EQ(clock.wall_ahead(), engine::Duration{});
  clocks.since_boot = clocks.since_boot + engine::Duration::seconds(1);
  EXPECT_EQ(clock.wall_ahead(), engine::Duration::seconds(-1));
  clocks.date = clocks.date + engine::Duration::seconds(3'601);
  EXPECT_EQ(clock.wall_ahead(), engine::Duration::seconds(3'600));
  clock.start_at_least(clock.now() + engine::Duration::seconds(86'400));
  EXPECT_EQ(clock.wall_ahead(), engine::Duration::seconds(3'600 - 86'400));
}

TEST(Loop, ClockIgnoresAnInstantOfThePast) {
  Loop loop;
  const auto before = loop.now();
  loop.start_clock_at_least(engine::Instant::from_micros(1));
  EXPECT_LT(loop.now() - before, engine::Duration::seconds(10));
}

}  // namespace
}  // namespace hpsearch::net
