#pragma once

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::workers {

/// The times of retries: waits that double from `first` to `longest`, each shortened randomly to
/// between half and all of its length, so that a thousand workers don't reconnect at the same
/// time.
///
/// Chance: only through the given Draw.
class Backoff {
 public:
  Backoff(engine::Duration first, engine::Duration longest, engine::Draw draw) noexcept
      : first_(first), longest_(longest), draw_(draw), step_(first) {}

  /// The wait before the next try.
  [[nodiscard]] engine::Duration next() noexcept;

  /// The last try succeeded: the next wait is the shortest again.
  void reset() noexcept { step_ = first_; }

  /// A random time up to `most`, for many workers that must retry at the same time.
  [[nodiscard]] engine::Duration within(engine::Duration most) noexcept;

  /// `around` plus or minus a fifth, for periodic actions like beats.
  [[nodiscard]] engine::Duration about(engine::Duration around) noexcept;

 private:
  engine::Duration first_;
  engine::Duration longest_;
  engine::Draw draw_;
  engine::Duration step_;
};

}  // namespace hpsearch::workers
