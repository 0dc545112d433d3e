#pragma once

#include <memory>
#include <utility>

namespace hpsearch::engine {

/// A value that is rarely there, for the price of a pointer while it is not: a std::optional that lives on
/// the heap. Copies are deep.
template <class T>
class Box {
 public:
  Box() = default;
  Box(T value) : held_(std::make_unique<T>(std::move(value))) {}  // NOLINT(google-explicit-constructor)
  Box(const Box& other) : held_(other.held_ ? std::make_unique<T>(*other.held_) : nullptr) {}
  Box(Box&&) noexcept = default;
  Box& operator=(Box other) noexcept {
    held_ = std::move(other.held_);
    return *this;
  }
  ~Box() = default;

  explicit operator bool() const noexcept { return held_ != nullptr; }
  [[nodiscard]] bool has_value() const noexcept { return held_ != nullptr; }
  [[nodiscard]] const T& operator*() const noexcept { return *held_; }
  [[nodiscard]] T& operator*() noexcept { return *held_; }
  [[nodiscard]] const T* operator->() const noexcept { return held_.get(); }
  [[nodiscard]] T* operator->() noexcept { return held_.get(); }

  void reset() noexcept { held_.reset(); }
  /// The value, a fresh one if there was none.
  T& ensure() {
    if (!held_) {
      held_ = std::make_unique<T>();
    }
    return *held_;
  }

 private:
  std::unique_ptr<T> held_;
};

}  // namespace hpsearch::engine
