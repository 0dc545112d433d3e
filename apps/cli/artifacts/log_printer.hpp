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

/// Whether a line is shown; none = all are.
using WantedLine = std::function<bool(std::string_view line)>;

/// Says which lines of a log are shown, and how.
class LogLines {
 public:
  LogLines(bool raw, WantedLine wanted) : raw_(raw), wanted_(std::move(wanted)) {}

  [[nodiscard]] std::string take(const std::string& bytes) {
    return raw_ ? bytes : only_wanted(view_.take(bytes));
  }
  [[nodiscard]] std::string finish() { return raw_ ? std::string() : only_wanted(view_.finish()); }
  /// The line that still grows.
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

/// Which log, and how it is shown.
struct ShownLog {
  std::optional<std::uint64_t>
      attempt{};  ///< Only that one; else the last one, and with `follow` those after it.
  LogStream stream{};
  std::optional<std::uint64_t> tail{};  ///< Only the last lines of what is there.
  bool follow = false;
  bool raw = false;  ///< As it was written: lines that were drawn over, escape sequences and all.
  WantedLine wanted{};
};

/// Prints the log of a trial, and with `follow` goes on until the trial has ended, over all its attempts: one
/// whose log cannot be read any more is told of and left behind when another one has followed it.
class LogPrinter {
 public:
  /// All must outlive it. `pause`: between two looks while it follows.
  LogPrinter(const LogSource& source, const ShownLog& shown, const Output& output,
             std::chrono::milliseconds pause = std::chrono::milliseconds(500))
      : source_(source), shown_(shown), output_(output), pause_(pause), lines_(shown.raw, shown.wanted) {}

  /// The exit status.
  [[nodiscard]] int print_all();

 private:
  /// The last lines of what is there: of all that are wanted, or of the log's end when all are.
  [[nodiscard]] Outcome<engine::Done> print_end();
  /// Everything of the attempt that is there; into `kept` instead of to the user where there is one.
  [[nodiscard]] Outcome<engine::Done> drain(std::string* kept = nullptr);
  void begin_next(const LogSource::Course& seen);

  /// A later attempt is there, and the rest of this one's log is worth no more waiting.
  [[nodiscard]] bool is_not_to_be_had(const LogSource::Course& seen, const Failure& failure);
  /// The attempt is being prepared, or its worker is away: the daemon will tell what becomes of it.
  [[nodiscard]] bool will_be_there(const LogSource::Course& seen, const Failure& failure) const;
  /// A daemon or a worker that restarts comes back.
  [[nodiscard]] bool is_passing(const Failure& failure);
  /// For how long nothing could be read.
  [[nodiscard]] std::chrono::steady_clock::duration silence();

  /// Something is missing here: nobody has it any more.
  void tell_left_out(std::uint64_t bytes);
  void emit(const std::string& text);
  /// On a terminal, a progress bar is seen while it moves.
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
  std::string drawn_;  ///< The unfinished line that stands on the terminal.
  std::string collected_;
};

}  // namespace hpsearch::cli
