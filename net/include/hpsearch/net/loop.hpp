#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>

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

/// One thread's event loop; the only place of a program that waits. Handlers run one after the other on the
/// thread that called run(). A handler may destroy its own Watch.
///
/// Threads: post() and stop() from anywhere; everything else from the loop's thread (or before run()).
class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run();  ///< Until stop(), or until nothing is left to wait for.
  void stop();
  void post(std::function<void()> task);  ///< Runs `task` on the loop, soon; order is kept.

  /// Runs `task` once, not before `delay` has passed.
  [[nodiscard]] Watch after(std::chrono::microseconds delay, std::function<void()> task);
  /// Runs `task` every `period`, first after one period.
  [[nodiscard]] Watch every(std::chrono::microseconds period, std::function<void()> task);
  /// Runs `task` whenever `descriptor` can be read (or has ended). The descriptor stays the caller's and must
  /// outlive the Watch.
  [[nodiscard]] Watch when_readable(int descriptor, std::function<void()> task);
  /// Runs `task` with the signal's number each time one of `signals` arrives, instead of its default action.
  [[nodiscard]] Watch on_signals(std::initializer_list<int> signals, std::function<void(int)> task);

  /// Engine time: the wall clock at the start plus time passed on a clock that runs on in suspend and never
  /// goes back; never below `at_least`, which a restart sets to the last instant of the log.
  [[nodiscard]] engine::Instant now() const noexcept;
  void start_clock_at_least(engine::Instant at_least) noexcept;

  struct Impl;
  [[nodiscard]] Impl& impl() noexcept { return *impl_; }  ///< For the sources of `net` only.

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace hpsearch::net
