#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::workers {

/// The steps that end a program: it is asked, then terminated (SIGTERM), then killed (SIGKILL).
///
/// Owns: values only. Time comes from the caller. Cost: O(1).
class EndLadder {
 public:
  enum class Rung : std::uint8_t { none, asked, terminated, killed };

  [[nodiscard]] Rung rung() const noexcept { return rung_; }
  /// When the next rung is due.
  [[nodiscard]] std::optional<engine::Instant> due() const noexcept { return due_; }

  /// It has `patience` to end voluntarily. No effect on a terminated program.
  void ask(engine::Duration patience, engine::Instant now) noexcept {
    if (rung_ < Rung::terminated) {
      rung_ = Rung::asked;
      due_ = now + patience;
    }
  }
  /// It had to wait after it was asked to end: its patience starts again, once.
  void ask_again(engine::Duration patience, engine::Instant now) noexcept {
    if (rung_ == Rung::asked && !std::exchange(asked_again_, true)) {
      ask(patience, now);
    }
  }
  /// It was asked to end, and must do so before `until`.
  void shorten(engine::Instant until) noexcept {
    if (due_ && *due_ > until) {
      due_ = until;
    }
  }
  void terminate(engine::Duration grace, engine::Instant now) noexcept {
    rung_ = Rung::terminated;
    due_ = now + grace;
  }
  void kill() noexcept {
    rung_ = Rung::killed;
    due_.reset();
  }
  /// It may continue.
  void withdraw() noexcept {
    rung_ = Rung::none;
    due_.reset();
  }
  /// Nothing is left to force.
  void stop() noexcept { due_.reset(); }

 private:
  Rung rung_ = Rung::none;
  std::optional<engine::Instant> due_;
  bool asked_again_ = false;
};

}  // namespace hpsearch::workers
