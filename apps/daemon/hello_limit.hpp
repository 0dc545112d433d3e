#pragma once

#include <cstdint>
#include <optional>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::daemon {

/// Limits how many workers are greeted in a second. Each greeting costs a step and a commit; when a crowd
/// comes back together, the sessions there are go on meanwhile.
class HelloLimit {
 public:
  explicit HelloLimit(std::uint64_t per_second) : per_second_(per_second) {}

  /// Nothing: this HELLO may be answered. Else in how many milliseconds its sender should try again: the more
  /// were turned away in this second, the later, up to 30,000.
  [[nodiscard]] std::optional<std::uint64_t> retry_after_ms(engine::Instant now);

 private:
  std::uint64_t per_second_;
  engine::Instant since_;
  std::uint64_t admitted_ = 0;
  std::uint64_t turned_away_ = 0;
};

}  // namespace hpsearch::daemon
