#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cli/client/client.hpp"

namespace hpsearch::cli {

/// Why nothing of a search runs, for whoever follows it: said once for each reason, and only when it lasts.
class WaitingNote {
 public:
  using Clock = std::chrono::steady_clock;

  /// `why` is the daemon's waits_for; "" = something runs. What is to be said now, if anything.
  [[nodiscard]] std::optional<std::string> heard(const std::string& why, Clock::time_point now);

 private:
  std::optional<Clock::time_point> since_;
  std::string told_;  // Without its numbers, which count down.
};

/// Why the daemon takes less than everything, as a full or broken disk: one sentence, or "". Also "" when it
/// does not say.
[[nodiscard]] std::string storage_trouble(const Client& client);

}  // namespace hpsearch::cli
