#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <type_traits>
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
  template <class Owner>
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using reference = std::conditional_t<std::is_const_v<Owner>, const T&, T&>;
    using pointer = std::remove_reference_t<reference>*;

    Iterator() = default;
    Iterator(Owner* owner, std::size_t at) noexcept : owner_(owner), at_(at) {}
    reference operator*() const noexcept { return (*owner_)[at_]; }
    pointer operator->() const noexcept { return &(*owner_)[at_]; }
    Iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    Iterator operator++(int) noexcept {
      Iterator before = *this;
      ++at_;
      return before;
    }
    friend bool operator==(Iterator a, Iterator b) noexcept { return a.at_ == b.at_; }

   private:
    Owner* owner_ = nullptr;
    std::size_t at_ = 0;
  };

 public:
  using value_type = T;

  static constexpr std::size_t chunk = std::bit_floor(std::max<std::size_t>(32 * 1024 / sizeof(T), 16));

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// `index` is below size().
  [[nodiscard]] T& operator[](std::size_t index) noexcept { return chunks_[index / chunk][index % chunk]; }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept {
    return chunks_[index / chunk][index % chunk];
  }
  [[nodiscard]] const T& back() const noexcept { return (*this)[size_ - 1]; }

  [[nodiscard]] T& back() noexcept { return (*this)[size_ - 1]; }

  T& push_back(T value) {
    if (size_ % chunk == 0) {
      chunks_.emplace_back();
      if (size_ > 0) {
        chunks_.back().reserve(chunk);
      }
    }
    ++size_;
    return chunks_.back().emplace_back(std::move(value));
  }

  void clear() noexcept {
    chunks_.clear();
    size_ = 0;
  }

  [[nodiscard]] auto begin() const noexcept { return Iterator<const ChunkedVector>(this, 0); }
  [[nodiscard]] auto end() const noexcept { return Iterator<const ChunkedVector>(this, size_); }
  [[nodiscard]] auto begin() noexcept { return Iterator<ChunkedVector>(this, 0); }
  [[nodiscard]] auto end() noexcept { return Iterator<ChunkedVector>(this, size_); }

 private:
  std::vector<std::vector<T>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace hpsearch::engine
