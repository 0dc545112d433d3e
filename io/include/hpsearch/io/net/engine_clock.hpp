#pragma once

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::net {

/// The two clocks of a machine.
class Clocks {
 public:
  Clocks() = default;
  Clocks(const Clocks&) = delete;
  Clocks& operator=(const Clocks&) = delete;
  virtual ~Clocks() = default;

  [[nodiscard]] virtual engine::Instant wall()
      const noexcept = 0;  ///< The date. Anybody may set it, at any time.
  [[nodiscard]] virtual engine::Instant steady()
      const noexcept = 0;  ///< Runs on in suspend, never back; from whenever.
};

/// Engine time: what the wall clock said at the start, plus what has passed on the steady one. Who sets the
/// wall clock later neither ages nor prolongs anything.
class EngineClock {
 public:
  /// `clocks` must outlive it.
  explicit EngineClock(const Clocks& clocks) noexcept
      : clocks_(&clocks), offset_(clocks.wall() - clocks.steady()) {}

  [[nodiscard]] engine::Instant now() const noexcept;
  /// Goes on from there at least.
  void start_at_least(engine::Instant at_least) noexcept;
  /// What the wall clock says now beyond that.
  [[nodiscard]] engine::Duration wall_ahead() const noexcept;

 private:
  const Clocks* clocks_;
  engine::Duration offset_;
};

}  // namespace hpsearch::net
