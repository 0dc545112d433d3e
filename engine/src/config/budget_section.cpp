#include <charconv>
#include <cmath>

#include "config/sections.hpp"
#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/space/numbers.hpp"

namespace hpsearch::engine {
namespace {

constexpr double shortest_seconds = 1e-6;  // What is kept is micros.
constexpr double longest_seconds = 1e9;    // Some thirty years: micros of it fit everywhere.

std::optional<double> seconds_in(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 86400;
    default:
      return std::nullopt;
  }
}

/// "90m", "1h 30m", "1.5d": numbers with their units, added up.
std::optional<double> seconds_of(std::string_view text) {
  double seconds = 0;
  const char* at = text.data();
  const char* end = at + text.size();
  const auto skip_blanks = [&] {
    while (at != end && *at == ' ') {
      ++at;
    }
  };
  skip_blanks();
  do {
    double number = 0;
    const auto [rest, error] = std::from_chars(at, end, number, std::chars_format::fixed);
    const std::optional<double> unit = error == std::errc() && rest != end ? seconds_in(*rest) : std::nullopt;
    if (!unit || !(number >= 0)) {
      return std::nullopt;
    }
    seconds += number * *unit;
    at = rest + 1;
    skip_blanks();
  } while (at != end);
  return seconds;
}

std::optional<double> seconds_of(const Value& value) {
  if (const std::string* text = value.as_text()) {
    return seconds_of(std::string_view(*text));
  }
  return finite_number(value);
}

}  // namespace

std::optional<Duration> read_duration(Section& section, std::string_view key) {
  const Value* time = section.any(key);
  if (time == nullptr) {
    return std::nullopt;
  }
  const std::optional<double> seconds = seconds_of(*time);
  if (seconds && *seconds >= shortest_seconds && *seconds <= longest_seconds) {
    return Duration::micros(std::llround(*seconds * 1e6));
  }
  section.problem(
      key, "is " + quoted(*time),
      "a length of time from a microsecond to 1e9 seconds: seconds as 3600, or text as 90m, 1h 30m or 2d");
  return std::nullopt;
}

void read_budget(Section section, BudgetConfig& budget) {
  budget.max_time = read_duration(section, "max_time");
  budget.max_slot_hours = section.number_above("max_slot_hours", 0);
  budget.target = section.number("target");
  budget.max_failed_trials = section.integer("max_failed_trials", 1);
  section.finish();
}

}  // namespace hpsearch::engine
