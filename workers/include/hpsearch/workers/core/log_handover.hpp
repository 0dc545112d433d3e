#pragma once

#include <cstdint>
#include <optional>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::workers {

/// Whether the daemon has the part of an attempt's output that it keeps.
class LogHandover {
 public:
  /// The program has ended, and its log is to be delivered.
  void ask() noexcept { state_ = State::waits; }
  /// Begins a delivery that ends at `due` at the latest; returns its number.
  std::uint64_t begin(engine::Instant due) noexcept {
    state_ = State::under_way;
    due_ = due;
    return ++delivery_;
  }
  /// The session of the current delivery has ended, and with it the key that it needs.
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
  std::uint64_t delivery_ = 0;  ///< The last one that began.
  std::optional<engine::Instant> due_;
};

}  // namespace hpsearch::workers
