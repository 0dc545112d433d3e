#pragma once

#include <cstdint>
#include <optional>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::daemon {

/// Limits how many workers are greeted in a second. Each greeting costs a step and a commit; when a crowd
/// comes back together, the sessions there are go on meanwhile.
///
/// A few may come at once. After them, the daemon is free of greetings for a share of a second before each:
/// the longer a greeting takes, the fewer there are.
class HelloLimit {
 public:
  explicit HelloLimit(std::uint64_t per_second);

  /// Nothing: this HELLO may be answered now, and greeted() is called afterwards. Else in how many
  /// milliseconds its sender should try again: the more were turned away in this second, the later, up to
  /// 30,000.
  [[nodiscard]] std::optional<std::uint64_t> retry_after_ms(engine::Instant now);
  /// What the greeting took makes no room for another.
  void greeted(engine::Instant now) noexcept { counted_ = now; }

 private:
  std::uint64_t per_second_;
  engine::Duration share_;     ///< Of a second, for each greeting.
  engine::Duration most_;      ///< Of room_.
  engine::Duration room_;      ///< Time without greetings that none has used.
  engine::Instant counted_{};  ///< Up to then.
  engine::Instant since_;
  std::uint64_t turned_away_ = 0;
};

}  // namespace hpsearch::daemon
