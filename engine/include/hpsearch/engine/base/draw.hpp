#pragma once

#include <cstdint>
#include <string_view>

#include "hpsearch/engine/base/id.hpp"

namespace hpsearch::engine {

/// Chance without state: draw n of a stream is a function of (seed, trial, name, n) and nothing else, so
/// trial k gets the same numbers whatever the order of events, the number of workers or the crashes.
///
/// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011).
/// The seed and a hash of the name make the key; trial and n make the counter.
class Draw {
 public:
  Draw(std::uint64_t seed, TrialNumber trial, std::string_view name) noexcept;

  [[nodiscard]] std::uint64_t bits() noexcept;  ///< The next 64 bits.
  [[nodiscard]] double unit() noexcept;         ///< Uniform on [0, 1), 53 bits.

  /// Uniform on 0 … bound-1, without bias (Lemire's multiply and reject). bound 0 means all 64 bits.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept;

 private:
  std::uint64_t key_;
  std::uint64_t trial_;
  std::uint64_t next_ = 0;
};

struct PhiloxBlock {
  std::uint32_t word[4];
};

/// One block of Philox 4x32-10; exposed for the known-answer test.
[[nodiscard]] PhiloxBlock philox4x32_10(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1) noexcept;

}  // namespace hpsearch::engine
