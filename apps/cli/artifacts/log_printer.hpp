#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/artifacts/log_source.hpp"
#include "cli/artifacts/log_view.hpp"
#include "cli/render/output.hpp"
#include "cli/verbs/failure.hpp"

namespace hpsearch::cli {

/// Whether a line is shown; empty = all lines are.
using WantedLine = std::function<bool(std::string_view line)>;

/// Decides which lines of a log are shown, and how.
class LogLines {
 public:
  LogLines(bool raw, WantedLine wanted) : raw_(raw), wanted_(std::move(wanted)) {}

  [[nodiscard]] std::string take(const std::string& bytes) {
    return raw_ ? bytes : only_wanted(view_.take(bytes));
  }
  [[nodiscard]] std::string finish() { return raw_ ? std::string() : only_wanted(view_.finish()); }
  /// The line that is still growing.
  [[nodiscard]] std::string unfinished() const {
    const std::string line = raw_ ? std::string() : view_.unfinished();
    return is_wanted(line) ? line : std::string();
  }

 private:
  [[nodiscard]] bool is_wanted(std::string_view line) const { return !wanted_ || wanted_(line); }
  [[nodiscard]] std::string only_wanted(std::string lines) const;

  bool raw_;
  WantedLine wanted_;
  LogView view_;
};

/// Selects a log, and how it is shown.
struct ShownLog {
  std::optional<std::uint64_t>
      attempt{};  ///< Only this one; otherwise the last one, and with `follow` the later ones.
  LogStream stream{};
  std::optional<std::uint64_t> tail{};  ///< Only the last lines of the present log.
  bool follow = false;
  bool raw = false;  ///< Unchanged, with overwritten lines and escape sequences.
  WantedLine wanted{};
};

/// Prints the log of a trial. With `follow` it continues until the trial has ended, over all its attempts: if
/// the log of an attempt can no longer be read and another attempt has begun, it prints a message and
/// continues with that one.
class LogPrinter {
 public:
  /// All arguments must outlive it. `pause`: the time between two reads while it follows.
  LogPrinter(const LogSource& source, const ShownLog& shown, const Output& output,
             std::chrono::milliseconds pause = std::chrono::milliseconds(500))
      : source_(source), shown_(shown), output_(output), pause_(pause), lines_(shown.raw, shown.wanted) {}

  /// Returns the exit code.
  [[nodiscard]] int print_all();

 private:
  /// Prints the last lines of the present log: of those that are selected, or its end if all are.
  [[nodiscard]] Outcome<engine::Done> print_end();
  /// Prints everything that the attempt has so far; into `kept` instead if it is set.
  [[nodiscard]] Outcome<engine::Done> drain(std::string* kept = nullptr);
  void begin_next(const LogSource::Course& seen);

  /// A later attempt exists, and waiting for the rest of this one's log is not worthwhile.
  [[nodiscard]] bool is_not_to_be_had(const LogSource::Course& seen, const Failure& failure);
  /// The attempt is being prepared, or its worker is disconnected: its state will change.
  [[nodiscard]] bool will_be_there(const LogSource::Course& seen, const Failure& failure) const;
  /// A daemon or a worker that restarts returns.
  [[nodiscard]] bool is_passing(const Failure& failure);
  /// How long nothing could be read.
  [[nodiscard]] std::chrono::steady_clock::duration silence();

  /// Prints that bytes are missing here, which can no longer be read anywhere.
  void print_left_out(std::uint64_t bytes);
  void emit(const std::string& text);
  /// On a terminal, shows a progress bar while it moves.
  void draw_unfinished();
  [[nodiscard]] int finish();

  const LogSource& source_;
  const ShownLog& shown_;
  const Output& output_;
  std::chrono::milliseconds pause_;
  LogLines lines_;
  std::uint64_t attempt_ = 0;
  std::uint64_t offset_ = 0;
  std::optional<std::chrono::steady_clock::time_point> silent_since_;
  std::string drawn_;  ///< The unfinished line that is visible on the terminal.
  std::string collected_;
};

}  // namespace hpsearch::cli
