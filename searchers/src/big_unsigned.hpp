#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::searchers {

/// A natural number of any size: weights like 4^99/7 are compared exactly.
///
/// Cost: O(words) per operation.
class BigUnsigned {
 public:
  explicit BigUnsigned(std::uint64_t number) : words_{number} {}

  BigUnsigned& operator*=(std::uint64_t factor) {
    engine::Cardinality carry = 0;
    for (std::uint64_t& word : words_) {
      carry += engine::Cardinality{word} * factor;
      word = static_cast<std::uint64_t>(carry);
      carry >>= 64U;
    }
    if (carry != 0) {
      words_.push_back(static_cast<std::uint64_t>(carry));
    }
    return *this;
  }

  /// Times 2^twos.
  BigUnsigned& operator<<=(std::uint64_t twos) {
    *this *= std::uint64_t{1} << twos % 64;
    words_.insert(words_.begin(), static_cast<std::size_t>(twos / 64), 0);
    return *this;
  }

  BigUnsigned& operator+=(const BigUnsigned& other) {
    words_.resize(std::max(words_.size(), other.words_.size()), 0);
    engine::Cardinality carry = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      carry += words_[i];
      carry += other.word(i);
      words_[i] = static_cast<std::uint64_t>(carry);
      carry >>= 64U;
    }
    if (carry != 0) {
      words_.push_back(static_cast<std::uint64_t>(carry));
    }
    return *this;
  }

  friend bool operator<=(const BigUnsigned& a, const BigUnsigned& b) {
    for (std::size_t i = std::max(a.words_.size(), b.words_.size()); i-- > 0;) {
      if (a.word(i) != b.word(i)) {
        return a.word(i) < b.word(i);
      }
    }
    return true;
  }

 private:
  [[nodiscard]] std::uint64_t word(std::size_t i) const noexcept { return i < words_.size() ? words_[i] : 0; }

  std::vector<std::uint64_t> words_;  // Least significant first.
};

}  // namespace hpsearch::searchers
