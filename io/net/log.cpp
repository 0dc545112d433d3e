#include "hpsearch/io/net/log.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

namespace hpsearch::net {
namespace {

std::atomic<Level> lowest{Level::info};
std::array<std::atomic<std::uint64_t>, 4> lines{};  // By level.

constexpr std::array<std::string_view, 4> level_names{"debug", "info", "warning", "error"};

std::string_view name_of(Level level) {
  return level_names[static_cast<std::size_t>(level)];
}

void append_time(std::string& line) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  std::array<char, 48> text{};
  const std::size_t used = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  line.append(text.data(), used);
  std::snprintf(text.data(), text.size(), ".%03ldZ ", now.tv_nsec / 1'000'000);
  line += text.data();
}

}  // namespace

bool set_log_level(std::string_view name) noexcept {
  const auto found = std::find(level_names.begin(), level_names.end(), name);
  if (found == level_names.end()) {
    return false;
  }
  lowest = static_cast<Level>(found - level_names.begin());
  return true;
}

void log(Level level, std::string_view message) noexcept {
  if (level < lowest.load(std::memory_order_relaxed)) {
    return;
  }
  try {
    std::string line;
    line.reserve(message.size() + 64);
    append_time(line);
    line += name_of(level);
    line += ' ';
    line += program_invocation_short_name;
    line += ": ";
    for (const char c : message) {
      // Text from outside must not be able to forge a second line or move somebody's cursor.
      const auto byte = static_cast<unsigned char>(c);
      line += byte < 0x20 || byte == 0x7f ? ' ' : c;
    }
    line += '\n';
    // One write per line: lines of several threads and processes do not mix.
    lines.at(static_cast<std::size_t>(level)).fetch_add(1, std::memory_order_relaxed);
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  } catch (...) {  // Out of memory: a log line is not worth an end.
  }
}

std::array<std::pair<std::string_view, std::uint64_t>, 4> logged_lines() noexcept {
  std::array<std::pair<std::string_view, std::uint64_t>, 4> counts;
  for (std::size_t level = 0; level < counts.size(); ++level) {
    counts.at(level) = {level_names.at(level), lines.at(level).load(std::memory_order_relaxed)};
  }
  return counts;
}

}  // namespace hpsearch::net
