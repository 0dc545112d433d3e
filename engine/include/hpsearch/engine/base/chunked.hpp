#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace hpsearch::engine {

/// A sequence that only grows at its end, in chunks: a million entries cost no more than they hold and are
/// never moved to grow, where a vector may hold twice as much and stops the world to double.
///
/// References into the first chunk hold until the next push_back, into later ones for as long as it lives.
/// Cost: O(1) per call.
template <class T, std::size_t chunk_size = 1024>
class Chunked {
  using Chunk = std::vector<T>;

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

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return chunks_[i / chunk_size][i % chunk_size]; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return chunks_[i / chunk_size][i % chunk_size]; }
  [[nodiscard]] const T& back() const noexcept { return (*this)[size_ - 1]; }
  [[nodiscard]] T& back() noexcept { return (*this)[size_ - 1]; }

  T& push_back(T value) {
    if (size_ % chunk_size == 0) {
      chunks_.emplace_back();
      if (size_ > 0) {
        chunks_.back().reserve(chunk_size);  // The first one grows as it must: most sequences are short.
      }
    }
    ++size_;
    return chunks_.back().emplace_back(std::move(value));
  }

  void clear() noexcept {
    chunks_.clear();
    size_ = 0;
  }

  [[nodiscard]] auto begin() const noexcept { return Iterator<const Chunked>(this, 0); }
  [[nodiscard]] auto end() const noexcept { return Iterator<const Chunked>(this, size_); }
  [[nodiscard]] auto begin() noexcept { return Iterator<Chunked>(this, 0); }
  [[nodiscard]] auto end() noexcept { return Iterator<Chunked>(this, size_); }

 private:
  std::vector<Chunk> chunks_;
  std::size_t size_ = 0;
};

}  // namespace hpsearch::engine
