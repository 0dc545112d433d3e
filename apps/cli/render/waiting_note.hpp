#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cli/client/client.hpp"

namespace hpsearch::cli {

/// Why no trial of a search runs, for a user who follows it: each reason once, and only if it lasts.
class WaitingNote {
 public:
  using Clock = std::chrono::steady_clock;

  /// `why` is the daemon's waits_for; "" = a trial runs. Returns the message to print now, if any.
  [[nodiscard]] std::optional<std::string> heard(const std::string& why, Clock::time_point now);

 private:
  std::optional<Clock::time_point> since_;
  std::string printed_;  // Without its numbers, which count down.
};

/// Why the daemon does not accept everything, for example a full or broken disk: one sentence, or "". Also ""
/// if it gives no reason.
[[nodiscard]] std::string storage_trouble(const Client& client);

}  // namespace hpsearch::cli
