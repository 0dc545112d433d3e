#include "hpsearch/engine/base/clock_text.hpp"

#include <cstdint>
#include <utility>

namespace hpsearch::engine {

std::optional<Duration> duration_from_clock_text(std::string_view text) noexcept {
  std::int64_t days = 0;
  std::int64_t rest = 0;
  std::int64_t number = 0;
  bool any = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9' && number < 1'000'000) {
      number = number * 10 + (c - '0');
      any = true;
    } else if (c == '-') {
      days = std::exchange(number, 0);
    } else if (c == ':' && rest < 1'000'000'000) {
      rest = (rest + std::exchange(number, 0)) * 60;
    } else {
      return std::nullopt;
    }
  }
  return any ? std::optional(Duration::seconds(days * 86'400 + rest + number)) : std::nullopt;
}

}  // namespace hpsearch::engine
