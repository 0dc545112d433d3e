#include "simulation/cluster/nodes/process.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace hpsearch::simulation {

using engine::Duration;
using engine::Instant;

struct Process::Timer {
  Task task;
  Duration period;  // Zero: once.
  std::uint64_t life = 0;
  Instant due;
  Duration slept;  // Of the process when it was armed.
  bool ended = false;
};

class Process::Handle final : public net::Watch::Kept {
 public:
  explicit Handle(std::shared_ptr<Timer> timer) : timer_(std::move(timer)) {}
  ~Handle() override { timer_->ended = true; }

 private:
  std::shared_ptr<Timer> timer_;
};

void Process::begin(Instant wall) {
  ++life_;
  alive_ = true;
  stopped_ = false;
  ++stops_;
  waiting_.clear();
  clocks_.offset = wall - time_.now();
  clock_ = net::EngineClock(clocks_);
}

void Process::kill() {
  ++life_;
  alive_ = false;
  stopped_ = false;
  ++stops_;
  waiting_.clear();
}

void Process::stop_for(Duration time) {
  if (!alive_ || stopped_) {
    return;
  }
  stopped_ = true;
  time_.after(time, [this, stop = ++stops_] {
    if (stop == stops_) {
      go_on();
    }
  });
}

void Process::suspend_for(Duration time) {
  if (alive_ && !stopped_) {
    slept_ = slept_ + time;
    stop_for(time);
  }
}

void Process::go_on() {
  stopped_ = false;
  const std::uint64_t life = life_;
  std::deque<Task> waited = std::exchange(waiting_, {});
  for (std::size_t i = 0; i < waited.size(); ++i) {
    if (life != life_) {
      return;
    }
    if (stopped_) {  // Again, by what just happened.
      waiting_.push_back(std::move(waited[i]));
    } else {
      waited[i]();
    }
  }
}

void Process::post(Task task) {
  time_.at(time_.now(), [this, life = life_, task = std::move(task)] {
    if (life == life_) {
      deliver(task);
    }
  });
}

void Process::arm(const std::shared_ptr<Timer>& timer, Instant when) {
  timer->due = when;
  timer->slept = slept_;
  time_.at(when, [this, timer] {
    if (timer->ended || timer->life != life_) {
      return;
    }
    if (slept_ > timer->slept) {  // Its clock stood still while the machine slept.
      arm(timer, timer->due + Duration::micros(slept_.in_micros() - timer->slept.in_micros()));
      return;
    }
    deliver([this, timer] { fire(timer); });
  });
}

void Process::fire(const std::shared_ptr<Timer>& timer) {
  if (timer->ended) {
    return;
  }
  timer->task();
  if (timer->period > Duration{} && !timer->ended && timer->life == life_) {
    arm(timer, std::max(timer->due + timer->period, time_.now()));
  }
}

net::Watch Process::after(std::chrono::microseconds delay, Task task) {
  auto timer = std::make_shared<Timer>(Timer{std::move(task), {}, life_, {}, {}});
  arm(timer, time_.now() + Duration::micros(delay.count()));
  return net::Watch(std::make_unique<Handle>(std::move(timer)));
}

net::Watch Process::every(std::chrono::microseconds period, Task task) {
  auto timer =
      std::make_shared<Timer>(Timer{std::move(task), Duration::micros(period.count()), life_, {}, {}});
  arm(timer, time_.now() + timer->period);
  return net::Watch(std::make_unique<Handle>(std::move(timer)));
}

Instant Process::now() const noexcept {
  return clock_.now();
}

void Process::start_clock_at_least(Instant at_least) noexcept {
  clock_.start_at_least(at_least);
}

}  // namespace hpsearch::simulation
