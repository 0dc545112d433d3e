#pragma once

#include <cstdint>
#include <optional>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::workers {

/// Whether the daemon has what it keeps of an attempt's output.
class LogHandover {
 public:
  /// The program has ended, and its log is to be delivered.
  void ask() noexcept { state_ = State::waits; }
  /// Begins a delivery that is given up at `due`; returns its number.
  std::uint64_t begin(engine::Instant due) noexcept {
    state_ = State::under_way;
    due_ = due;
    return ++delivery_;
  }
  /// The session of a delivery under way is over, and with it the key that the daemon takes it by.
  void take_back() noexcept {
    if (is_under_way()) {
      state_ = State::waits;
      due_.reset();
    }
  }
  void end() noexcept {
    state_ = State::none;
    due_.reset();
  }

  [[nodiscard]] bool waits() const noexcept { return state_ == State::waits; }
  [[nodiscard]] bool is_under_way() const noexcept { return state_ == State::under_way; }
  [[nodiscard]] bool is_under_way(std::uint64_t delivery) const noexcept {
    return is_under_way() && delivery == delivery_;
  }
  [[nodiscard]] std::optional<engine::Instant> due() const noexcept { return due_; }

 private:
  enum class State : std::uint8_t { none, waits, under_way };
  State state_ = State::none;
  std::uint64_t delivery_ = 0;  ///< The last one that was begun.
  std::optional<engine::Instant> due_;
};

}  // namespace hpsearch::workers
