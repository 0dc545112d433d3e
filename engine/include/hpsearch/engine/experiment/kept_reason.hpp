#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "hpsearch/engine/base/box.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::engine {

/// A Reason in a third of its room, for as long as a trial is remembered. Reads as what was put in; brackets
/// and rungs above 65,534 and results above 2^32-2 do not occur, as no memory holds them.
class KeptReason {
 public:
  KeptReason() = default;
  KeptReason(const Reason& reason);  // NOLINT(google-explicit-constructor)
  operator Reason() const;           // NOLINT(google-explicit-constructor)

  [[nodiscard]] Reason::Why why() const noexcept { return why_; }
  [[nodiscard]] std::string detail() const { return detail_ ? *detail_ : std::string(); }

 private:
  /// Fields that few reasons have: those of a model's choice and of an early stop.
  struct Rare {
    std::optional<std::uint64_t> near;
    std::optional<std::uint64_t> near_rank;
    std::optional<std::uint64_t> results;
    std::optional<double> spread;
    std::optional<ExpectedResult> expected;
    std::optional<double> value;
  };

  static constexpr std::uint16_t no_level = std::numeric_limits<std::uint16_t>::max();
  static constexpr std::uint32_t no_count = std::numeric_limits<std::uint32_t>::max();

  Reason::Why why_ = Reason::Why::new_trial;
  bool has_cutoff_ = false;
  bool has_at_ = false;
  std::uint16_t bracket_ = no_level;
  std::uint16_t rung_ = no_level;
  std::uint32_t rank_ = no_count;
  std::uint32_t size_ = no_count;
  std::uint32_t keep_ = no_count;
  double cutoff_ = 0;
  Units at_{};
  Box<std::string> detail_;
  Box<Rare> rare_;
};

}  // namespace hpsearch::engine
