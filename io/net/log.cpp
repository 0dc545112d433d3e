#include "hpsearch/io/net/log.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::net {
namespace {

using Clock = std::chrono::steady_clock;

enum class Format : std::uint8_t { text, json, journald };

std::atomic<Level> lowest{Level::info};
std::atomic<Format> format{Format::text};
std::array<std::atomic<std::uint64_t>, 4> lines{};  // By level.

constexpr std::array<std::string_view, 4> level_names{"debug", "info", "warning", "error"};
constexpr std::array<char, 4> priorities{'7', '6', '4', '3'};  // As syslog(3) numbers them.

std::string_view name_of(Level level) {
  return level_names.at(static_cast<std::size_t>(level));
}

std::string time_text() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  std::array<char, 48> text{};
  const std::size_t used = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::string time(text.data(), used);
  std::snprintf(text.data(), text.size(), ".%03ldZ", now.tv_nsec / 1'000'000);
  return time + text.data();
}

/// Text from outside must not be able to forge a second line or move a user's cursor.
std::string on_one_line(std::string_view message) {
  std::string line(message);
  for (char& c : line) {
    const auto byte = static_cast<unsigned char>(c);
    c = byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  return line;
}

std::string json_line(Level level, const std::string& text, const About& about) {
  engine::Value::Map line{{"ts", time_text()},
                          {"level", name_of(level)},
                          {"program", program_invocation_short_name},
                          {"msg", proto::to_utf8(text)}};
  const auto add = [&line](const char* name, std::optional<std::uint64_t> number) {
    if (number) {
      line[name] = static_cast<std::int64_t>(*number);
    }
  };
  add("experiment", about.experiment);
  add("trial", about.trial);
  add("attempt", about.attempt);
  if (!about.worker.empty()) {
    line["worker"] = proto::to_utf8(on_one_line(about.worker));
  }
  return engine::compact_json(std::move(line)) + "\n";
}

std::string line_of(Level level, std::string_view message, const About& about) {
  const std::string text = on_one_line(message);
  switch (format.load(std::memory_order_relaxed)) {
    case Format::json:
      return json_line(level, text, about);
    case Format::journald:
      return std::string{'<', priorities.at(static_cast<std::size_t>(level)), '>'} + text + "\n";
    case Format::text:
      break;
  }
  return time_text() + " " + std::string(name_of(level)) + " " + program_invocation_short_name + ": " + text +
         "\n";
}

/// One write per line: lines of several threads and processes do not mix.
void write_line(Level level, std::string_view message, const About& about) {
  const std::string line = line_of(level, message, about);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

/// Equal lines of the last minute.
///
/// Threads: any.
class Repeats {
 public:
  /// Whether the line is to be written; otherwise it is counted.
  bool admit(Level level, std::string_view message, const About& about) {
    const std::scoped_lock lock(mutex_);
    const Clock::time_point now = Clock::now();
    write_ended(now, /*all=*/false);
    const auto found = std::find_if(seen_.begin(), seen_.end(), [&](const Seen& seen) {
      return seen.level == level && seen.message == message && seen.about == about;
    });
    if (found != seen_.end()) {
      return ++found->count <= written_each;
    }
    if (seen_.size() < most_messages) {
      seen_.push_back({level, std::string(message), about, now, 1});
    }
    return true;
  }

  void write(bool all) {
    const std::scoped_lock lock(mutex_);
    write_ended(Clock::now(), all);
  }

 private:
  static constexpr std::chrono::seconds period{60};
  static constexpr std::uint64_t written_each = 5;
  static constexpr std::size_t most_messages = 64;

  struct Seen {
    Level level = Level::info;
    std::string message;
    About about;
    Clock::time_point since;
    std::uint64_t count = 0;
  };

  void write_ended(Clock::time_point now, bool all) {
    std::erase_if(seen_, [now, all](const Seen& seen) {
      if (!all && now - seen.since < period) {
        return false;
      }
      if (seen.count > written_each) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - seen.since).count();
        write_line(seen.level,
                   seen.message + " (" + std::to_string(seen.count - written_each) + " more times in " +
                       std::to_string(seconds) + " s)",
                   seen.about);
      }
      return true;
    });
  }

  std::mutex mutex_;
  std::vector<Seen> seen_;
};

/// Never destroyed: threads may log until the process ends.
Repeats& repeats() {
  static Repeats& all = *new Repeats;
  return all;
}

/// Whether systemd's journal reads our standard error: it passes the device and the inode of its stream.
bool journal_reads_us() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat own {};
  return stream != nullptr && ::fstat(STDERR_FILENO, &own) == 0 &&
         stream == std::to_string(own.st_dev) + ":" + std::to_string(own.st_ino);
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

bool set_log_format(std::string_view name) noexcept {
  if (name.empty()) {
    format = journal_reads_us() ? Format::journald : Format::text;
  } else if (name == "text") {
    format = Format::text;
  } else if (name == "json") {
    format = Format::json;
  } else if (name == "journald") {
    format = Format::journald;
  } else {
    return false;
  }
  return true;
}

About about(engine::ExperimentId experiment) {
  About about;
  about.experiment = experiment.number();
  return about;
}

About about_worker(std::string name) {
  About about;
  about.worker = std::move(name);
  return about;
}

void log(Level level, std::string_view message, const About& about) noexcept {
  if (level < lowest.load(std::memory_order_relaxed)) {
    return;
  }
  lines.at(static_cast<std::size_t>(level)).fetch_add(1, std::memory_order_relaxed);
  try {
    if (repeats().admit(level, message, about)) {
      write_line(level, message, about);
    }
  } catch (...) {  // Out of memory: a log line is not worth an end.
  }
}

void write_repeats(bool all) noexcept {
  try {
    repeats().write(all);
  } catch (...) {  // As above.
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
