#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "hpsearch/io/net/engine_clock.hpp"
#include "hpsearch/io/net/timeline.hpp"
#include "simulation/cluster/nodes/virtual_time.hpp"

namespace hpsearch::simulation {

/// A process of a simulated machine, as its code sees time. It can be stopped (what was to happen meanwhile
/// happens when it goes on), suspended with its machine (timers wait too, the clock does not) and killed
/// (what was to happen is forgotten).
class Process final : public net::Timeline {
 public:
  using Task = std::function<void()>;

  explicit Process(VirtualTime& time) : time_(time), clocks_(time), clock_(clocks_) {}

  /// A new life, on a machine whose wall clock says `wall` now.
  void begin(engine::Instant wall);
  void kill();
  [[nodiscard]] bool alive() const noexcept { return alive_; }
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }

  void stop_for(engine::Duration time);     ///< SIGSTOP, then SIGCONT.
  void suspend_for(engine::Duration time);  ///< The whole machine sleeps.
  void set_wall_clock(engine::Duration by) noexcept { clocks_.offset = clocks_.offset + by; }

  /// Something reaches the process: it happens now, when it goes on, or never.
  template <class Deed>
  void deliver(Deed deed) {
    if (alive_ && stopped_) {
      waiting_.push_back(std::move(deed));
    } else if (alive_) {
      deed();
    }
  }

  // --- net::Timeline ---
  void post(Task task) override;
  [[nodiscard]] net::Watch after(std::chrono::microseconds delay, Task task) override;
  [[nodiscard]] net::Watch every(std::chrono::microseconds period, Task task) override;
  [[nodiscard]] engine::Instant now() const noexcept override;
  void start_clock_at_least(engine::Instant at_least) noexcept override;
  [[nodiscard]] engine::Duration wall_ahead() const noexcept override { return clock_.wall_ahead(); }

 private:
  struct Timer;
  class Handle;
  struct MachineClocks final : net::Clocks {
    explicit MachineClocks(const VirtualTime& virtual_time) : time(virtual_time) {}
    [[nodiscard]] engine::Instant wall() const noexcept override { return time.now() + offset; }
    [[nodiscard]] engine::Instant steady() const noexcept override { return time.now(); }
    const VirtualTime& time;
    engine::Duration offset;  ///< Of the wall clock.
  };

  void go_on();
  void fire(const std::shared_ptr<Timer>& timer);
  void arm(const std::shared_ptr<Timer>& timer, engine::Instant when);

  VirtualTime& time_;
  std::uint64_t life_ = 0;
  bool alive_ = false;
  bool stopped_ = false;
  std::uint64_t stops_ = 0;
  std::deque<Task> waiting_;
  MachineClocks clocks_;
  net::EngineClock clock_;
  engine::Duration slept_;  // In all, in suspension.
};

}  // namespace hpsearch::simulation
