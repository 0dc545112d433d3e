#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::net {

/// Ends what it stands for when it goes: a timer, a watched descriptor, a signal handler. Empty ones do
/// nothing.
class Watch {
 public:
  struct Kept {
    virtual ~Kept() = default;
  };
  Watch() = default;
  explicit Watch(std::unique_ptr<Kept> kept) : kept_(std::move(kept)) {}
  [[nodiscard]] explicit operator bool() const noexcept { return kept_ != nullptr; }

 private:
  std::unique_ptr<Kept> kept_;
};

/// Time, and what is to be done at some of it. Programs run on a Loop; a simulation has time of its own, so
/// what asks for no more than this runs on both.
///
/// Tasks run one after the other, never from within the call that asked for them.
class Timeline {
 public:
  Timeline() = default;
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  virtual ~Timeline() = default;

  /// Runs `task` soon; order is kept.
  virtual void post(std::function<void()> task) = 0;
  /// Runs `task` once, not before `delay` has passed.
  [[nodiscard]] virtual Watch after(std::chrono::microseconds delay, std::function<void()> task) = 0;
  /// Runs `task` every `period`, first after one period. After a stall the missed ticks are skipped.
  [[nodiscard]] virtual Watch every(std::chrono::microseconds period, std::function<void()> task) = 0;

  /// Engine time: never goes back; never below `at_least`, which a restart sets to the last instant of the
  /// log.
  [[nodiscard]] virtual engine::Instant now() const noexcept = 0;
  virtual void start_clock_at_least(engine::Instant at_least) noexcept = 0;
  /// What the wall clock says beyond now(): less than nothing if it is behind. Only for people.
  [[nodiscard]] virtual engine::Duration wall_ahead() const noexcept = 0;
};

}  // namespace hpsearch::net
