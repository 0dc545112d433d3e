#include "hpsearch/io/net/loop.hpp"

#include <ctime>
#include <memory>

#include "hpsearch/engine/base/check.hpp"
#include "net/asio.hpp"

namespace hpsearch::net {
namespace {

engine::Instant read(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return engine::Instant::from_micros(static_cast<std::int64_t>(time.tv_sec) * 1'000'000 +
                                      time.tv_nsec / 1'000);
}

// Every Watch shares its state with the operation in flight: the Watch may go while its handler runs, and the
// operation may complete after the Watch was destroyed. `ended` says which.
template <class State>
class Handle final : public Watch::Kept {
 public:
  explicit Handle(std::shared_ptr<State> state) : state_(std::move(state)) {}
  ~Handle() override {
    state_->ended = true;
    state_->cancel();
  }

 private:
  std::shared_ptr<State> state_;
};

struct Timer : std::enable_shared_from_this<Timer> {
  Timer(Loop::Impl& loop, std::chrono::microseconds every, std::function<void()> what)
      : timer(loop.io), lag(loop.lag), period(every), task(std::move(what)) {}

  void wait_until(std::chrono::steady_clock::time_point when) {
    timer.expires_at(when);
    timer.async_wait([self = shared_from_this()](AsioError error) {
      if (error || self->ended) {
        return;
      }
      const LoopLag::Turn turn(self->lag);
      self->task();
      if (self->period.count() > 0 && !self->ended) {
        // After a stall the missed ticks are skipped, not made up for.
        const auto next = self->timer.expiry() + self->period;
        self->wait_until(std::max(next, std::chrono::steady_clock::now()));
      }
    });
  }
  void cancel() { timer.cancel(); }

  asio::steady_timer timer;
  LoopLag& lag;
  std::chrono::microseconds period;  // Zero: once.
  std::function<void()> task;
  bool ended = false;
};

struct Descriptor : std::enable_shared_from_this<Descriptor> {
  Descriptor(Loop::Impl& loop, int number, std::function<void()> what)
      : stream(loop.io), lag(loop.lag), task(std::move(what)) {
    AsioError error;
    stream.assign(number, error);
    HPSEARCH_CHECK(!error, "a descriptor that cannot be watched");
  }
  ~Descriptor() { release(); }

  void wait() {
    stream.async_wait(asio::posix::stream_descriptor::wait_read,
                      [self = shared_from_this()](AsioError error) {
                        if (error || self->ended) {
                          return;
                        }
                        const LoopLag::Turn turn(self->lag);
                        self->task();
                        if (!self->ended) {
                          self->wait();
                        }
                      });
  }
  void cancel() { release(); }
  void release() {
    if (stream.is_open()) {
      stream.release();  // Cancels the wait and leaves the descriptor open: it is the caller's.
    }
  }

  asio::posix::stream_descriptor stream;
  LoopLag& lag;
  std::function<void()> task;
  bool ended = false;
};

struct Signals : std::enable_shared_from_this<Signals> {
  Signals(asio::io_context& io, std::initializer_list<int> numbers, std::function<void(int)> what)
      : set(io), task(std::move(what)) {
    for (const int number : numbers) {
      set.add(number);
    }
  }

  void wait() {
    set.async_wait([self = shared_from_this()](AsioError error, int number) {
      if (error || self->ended) {
        return;
      }
      self->task(number);
      if (!self->ended) {
        self->wait();
      }
    });
  }
  void cancel() {
    AsioError ignored;
    set.cancel(ignored);  // Before clear(): a wait of a set without signals would never be let go.
    set.clear(ignored);   // Gives the default actions back.
  }

  asio::signal_set set;
  std::function<void(int)> task;
  bool ended = false;
};

}  // namespace

engine::Instant SystemClocks::wall() const noexcept {
  return read(CLOCK_REALTIME);
}

engine::Instant SystemClocks::steady() const noexcept {
  return read(CLOCK_BOOTTIME);
}

Loop::Loop() : impl_(std::make_unique<Impl>()) {
}

Loop::~Loop() = default;

void Loop::run() {
  impl_->io.run();
  impl_->io.restart();
}

void Loop::stop() {
  impl_->io.stop();
}

void Loop::post(std::function<void()> task) {
  asio::post(impl_->io, [&lag = impl_->lag, task = std::move(task)] {
    const LoopLag::Turn turn(lag);
    task();
  });
}

Watch Loop::after(std::chrono::microseconds delay, std::function<void()> task) {
  auto timer = std::make_shared<Timer>(*impl_, std::chrono::microseconds{0}, std::move(task));
  timer->wait_until(std::chrono::steady_clock::now() + delay);
  return Watch(std::make_unique<Handle<Timer>>(std::move(timer)));
}

Watch Loop::every(std::chrono::microseconds period, std::function<void()> task) {
  HPSEARCH_CHECK(period.count() > 0, "a period of nothing would never let the loop wait");
  auto timer = std::make_shared<Timer>(*impl_, period, std::move(task));
  timer->wait_until(std::chrono::steady_clock::now() + period);
  return Watch(std::make_unique<Handle<Timer>>(std::move(timer)));
}

Watch Loop::when_readable(int descriptor, std::function<void()> task) {
  auto watched = std::make_shared<Descriptor>(*impl_, descriptor, std::move(task));
  watched->wait();
  return Watch(std::make_unique<Handle<Descriptor>>(std::move(watched)));
}

Watch Loop::on_signals(std::initializer_list<int> signals, std::function<void(int)> task) {
  auto watched = std::make_shared<Signals>(impl_->io, signals, std::move(task));
  watched->wait();
  return Watch(std::make_unique<Handle<Signals>>(std::move(watched)));
}

engine::Instant Loop::now() const noexcept {
  return impl_->clock.now();
}

void Loop::start_clock_at_least(engine::Instant at_least) noexcept {
  impl_->clock.start_at_least(at_least);
}

engine::Duration Loop::wall_ahead() const noexcept {
  return impl_->clock.wall_ahead();
}

}  // namespace hpsearch::net
