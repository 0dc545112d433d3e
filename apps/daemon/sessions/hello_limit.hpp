#pragma once

#include <cstdint>
#include <optional>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::daemon {

/// Limits how many workers are greeted per second. Each greeting costs a step and a commit; when many workers
/// reconnect together, existing sessions continue meanwhile.
///
/// A few may come at once. After them, the daemon is free of greetings for a share of a second before each:
/// the longer a greeting takes, the fewer there are.
class HelloLimit {
 public:
  explicit HelloLimit(std::uint64_t per_second);

  /// Null: this HELLO may be answered now, and greeted() must be called afterwards. Otherwise the
  /// milliseconds after which its sender should try again: longer the more were refused in this second, up to
  /// 30,000.
  [[nodiscard]] std::optional<std::uint64_t> retry_after_ms(engine::Instant now);
  /// The duration of the greeting makes no room for another.
  void greeted(engine::Instant now) noexcept { counted_ = now; }

 private:
  std::uint64_t per_second_;
  engine::Duration share_;     ///< Share of a second per greeting.
  engine::Duration most_;      ///< Upper limit of room_.
  engine::Duration room_;      ///< Time without greetings that was not used.
  engine::Instant counted_{};  ///< Time up to which room_ is counted.
  engine::Instant since_;
  std::uint64_t turned_away_ = 0;
};

}  // namespace hpsearch::daemon
