#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace hpsearch::engine {

/// A list that only grows at its end, in pieces of about 32 KiB: it never moves what it holds once it is past
/// the first piece, and wastes at most one piece where a vector wastes up to as much as it holds.
///
/// Cost: O(1) per call; an allocation once per piece. The first piece doubles like a vector's, so that short
/// lists stay small: until it is full, references do not outlive push_back().
template <class T>
class ChunkedVector {
 public:
  static constexpr std::size_t chunk = std::bit_floor(std::max<std::size_t>(32 * 1024 / sizeof(T), 16));

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// `index` is below size().
  [[nodiscard]] T& operator[](std::size_t index) noexcept { return chunks_[index / chunk][index % chunk]; }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept {
    return chunks_[index / chunk][index % chunk];
  }
  [[nodiscard]] const T& back() const noexcept { return (*this)[size_ - 1]; }

  void push_back(T value) {
    if (size_ % chunk == 0) {
      chunks_.emplace_back();
      if (size_ > 0) {
        chunks_.back().reserve(chunk);
      }
    }
    chunks_.back().push_back(std::move(value));
    ++size_;
  }

 private:
  std::vector<std::vector<T>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace hpsearch::engine
