#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "hpsearch/io/net/timeline.hpp"

namespace hpsearch::daemon {

/// A timeline that a test advances. Timers run only in tick().
class ManualTimeline final : public net::Timeline {
 public:
  void post(std::function<void()> task) override { tasks_.push_back(std::move(task)); }
  [[nodiscard]] net::Watch after(std::chrono::microseconds, std::function<void()>) override { return {}; }
  [[nodiscard]] net::Watch every(std::chrono::microseconds, std::function<void()> task) override {
    timers_.push_back(std::move(task));
    return net::Watch(std::make_unique<Kept>());
  }
  [[nodiscard]] engine::Instant now() const noexcept override { return now_; }
  void start_clock_at_least(engine::Instant) noexcept override {}
  [[nodiscard]] engine::Duration wall_ahead() const noexcept override { return {}; }

  /// Runs posted work, also work that it posts.
  void run_posted() {
    while (!tasks_.empty()) {
      const auto task = std::move(tasks_.front());
      tasks_.pop_front();
      task();
    }
  }
  /// Runs each task of every() once. The owners of the timers must be alive.
  void tick() {
    const auto timers = timers_;
    for (const auto& task : timers) {
      task();
    }
  }
  void pass(engine::Duration time) { now_ = now_ + time; }

 private:
  struct Kept final : net::Watch::Kept {};
  engine::Instant now_ = engine::Instant::from_micros(1'800'000'000'000'000);
  std::deque<std::function<void()>> tasks_;
  std::vector<std::function<void()>> timers_;
};

}  // namespace hpsearch::daemon
