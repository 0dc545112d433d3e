#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/io/net/timeline.hpp"

namespace hpsearch::net {

/// One thread's event loop; the only place of a program that waits. Handlers run one after the other on the
/// thread that called run(). A handler may destroy its own Watch.
///
/// Threads: post() and stop() from anywhere; everything else from the loop's thread (or before run()).
class Loop final : public Timeline {
 public:
  Loop();
  ~Loop() override;

  void run();  ///< Until stop(), or until nothing is left to wait for.
  void stop();
  void post(std::function<void()> task) override;

  [[nodiscard]] Watch after(std::chrono::microseconds delay, std::function<void()> task) override;
  [[nodiscard]] Watch every(std::chrono::microseconds period, std::function<void()> task) override;
  /// Runs `task` whenever `descriptor` can be read (or has ended). The descriptor stays the caller's and must
  /// outlive the Watch.
  [[nodiscard]] Watch when_readable(int descriptor, std::function<void()> task);
  /// Runs `task` with the signal's number each time one of `signals` arrives, instead of its default action.
  [[nodiscard]] Watch on_signals(std::initializer_list<int> signals, std::function<void(int)> task);

  /// The wall clock at the start plus time passed on a clock that runs on in suspend and never goes back.
  [[nodiscard]] engine::Instant now() const noexcept override;
  void start_clock_at_least(engine::Instant at_least) noexcept override;
  [[nodiscard]] engine::Duration wall_ahead() const noexcept override;

  struct Impl;
  [[nodiscard]] Impl& impl() noexcept { return *impl_; }  ///< For the sources of `net` only.

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace hpsearch::net
