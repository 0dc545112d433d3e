#pragma once

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::workers {

/// When to try again, as data: waits that double from `first` to `longest`, each shortened by chance to
/// between half and all of its length, so that a thousand workers do not connect to a restarted daemon in
/// step.
///
/// Chance: only through the Draw it is given.
class Backoff {
 public:
  Backoff(engine::Duration first, engine::Duration longest, engine::Draw draw) noexcept
      : first_(first), longest_(longest), draw_(draw), step_(first) {}

  /// How long to wait before the next try.
  [[nodiscard]] engine::Duration next() noexcept;

  /// The last try worked: the next wait is the shortest again.
  void reset() noexcept { step_ = first_; }

  /// A random time up to `most`: for many workers that were asked at once to come again.
  [[nodiscard]] engine::Duration within(engine::Duration most) noexcept;

  /// `around` give or take a fifth: for what repeats for ever, like beats.
  [[nodiscard]] engine::Duration about(engine::Duration around) noexcept;

 private:
  engine::Duration first_;
  engine::Duration longest_;
  engine::Draw draw_;
  engine::Duration step_;
};

}  // namespace hpsearch::workers
