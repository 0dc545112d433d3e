#include <re2/re2.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "cli/interrupts.hpp"
#include "cli/log_source.hpp"
#include "cli/log_view.hpp"
#include "cli/server.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/utf8.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

constexpr std::chrono::seconds patience_with_silence{120};
constexpr std::uint64_t most_lines_at_the_end = 1'000'000;

/// Says which lines of a log are shown, and how.
class LogLines {
 public:
  /// `wanted`: only lines in which it is found; none = all.
  LogLines(bool raw, const re2::RE2* wanted) : raw_(raw), wanted_(wanted) {}

  [[nodiscard]] std::string take(const std::string& bytes) { return raw_ ? bytes : only_wanted(view_.take(bytes)); }
  [[nodiscard]] std::string finish() { return raw_ ? std::string() : only_wanted(view_.finish()); }
  /// The line that still grows.
  [[nodiscard]] std::string unfinished() const {
    const std::string line = raw_ ? std::string() : view_.unfinished();
    return is_wanted(line) ? line : std::string();
  }

 private:
  [[nodiscard]] bool is_wanted(std::string_view line) const {
    return wanted_ == nullptr || re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *wanted_);
  }
  [[nodiscard]] std::string only_wanted(std::string lines) const {
    if (wanted_ == nullptr) {
      return lines;
    }
    std::string found;
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = lines.find('\n', at) + 1;
      const std::string_view line = std::string_view(lines).substr(at, end - at);
      if (is_wanted(line.substr(0, line.size() - 1))) {
        found += line;
      }
      at = end;
    }
    return found;
  }

  bool raw_;
  const re2::RE2* wanted_;
  LogView view_;
};

class LogPrinter {
 public:
  LogPrinter(const LogSource& source, const LogsOptions& options, const re2::RE2* wanted, const Output& output)
      : source_(source), options_(options), wanted_(wanted), output_(output), lines_(options.raw, wanted) {}

  int print_all() {
    const Interrupts interrupts;
    Outcome<LogSource::Course> course = source_.course();
    if (!course) {
      return output_.fail(course.failure());
    }
    if (course->attempts == 0 && !options_.follow) {
      return output_.fail(not_found_failure("the trial has not run yet"));
    }
    attempt_ = options_.attempt.value_or(course->attempts);
    if (options_.tail && attempt_ > 0) {
      if (const Outcome<engine::Done> begun = print_end(); !begun) {
        return output_.fail(begun.failure());
      }
    }
    std::optional<std::chrono::steady_clock::time_point> silent_since;
    while (interrupts.count() == 0) {
      // The course first: what is written before the end is then sure to be read after it.
      const Outcome<LogSource::Course> seen = source_.course();
      const Outcome<engine::Done> drained =
          seen && attempt_ > 0 ? drain() : Outcome<engine::Done>(engine::Done{});
      if (!seen || !drained) {
        const Failure& failure = !seen ? seen.failure() : drained.failure();
        const auto now = std::chrono::steady_clock::now();
        const bool passing = failure.exit == Exit::unreachable || failure.code == engine::Errc::unavailable;
        if (!options_.follow || !passing || (silent_since && now - *silent_since > patience_with_silence)) {
          return output_.fail(failure);
        }
        silent_since = silent_since.value_or(now);  // A daemon or a worker that restarts comes back.
      } else {
        silent_since.reset();
        if (!options_.attempt && attempt_ < seen->attempts) {
          emit(lines_.finish());
          attempt_ = attempt_ == 0 ? seen->attempts : attempt_ + 1;
          offset_ = 0;
          continue;
        }
        if (!options_.follow || seen->over || (options_.attempt && attempt_ < seen->attempts)) {
          return finish();
        }
        draw_unfinished();
      }
      nap(std::chrono::milliseconds(500));
    }
    return static_cast<int>(Exit::interrupted);
  }

 private:
  /// The last lines of what is there: of all that are wanted, or of the log's end when all are.
  Outcome<engine::Done> print_end() {
    const auto lines = static_cast<std::size_t>(std::min(*options_.tail, most_lines_at_the_end));
    std::string text;
    if (wanted_ != nullptr) {
      if (Outcome<engine::Done> read = drain(&text); !read) {
        return read;
      }
      text += options_.follow ? std::string() : lines_.finish();
    } else {
      const Outcome<LogPart> end = source_.read(attempt_, 0, true);
      if (!end) {
        return end.failure();
      }
      text = lines_.take(end->text);
      text += options_.follow ? std::string() : lines_.finish();
      offset_ = end->end();
    }
    const std::string last = last_lines(text, lines);
    emit(last.empty() ? last : last + "\n");
    return engine::Done{};
  }

  /// Everything of the attempt that is there; into `kept` instead of to the user where there is one.
  [[nodiscard]] Outcome<engine::Done> drain(std::string* kept = nullptr) {
    while (true) {
      const Outcome<LogPart> part = source_.read(attempt_, offset_, false);
      if (!part) {
        return part.failure();
      }
      const std::string lines = lines_.take(part->text);
      if (kept != nullptr) {
        *kept += lines;
        *kept = last_lines(*kept, static_cast<std::size_t>(std::min(*options_.tail, most_lines_at_the_end)));
        *kept += kept->empty() ? "" : "\n";
      } else {
        emit(lines);
      }
      offset_ = std::max(offset_, part->end());
      if (part->text.empty() || offset_ >= part->size) {
        return engine::Done{};
      }
    }
  }

  void emit(const std::string& text) {
    if (text.empty()) {
      return;
    }
    if (!output_.json()) {
      output_.print(drawn_.empty() ? text : "\r\x1b[K" + text);
      drawn_.clear();
    } else if (options_.follow) {
      output_.line(
          Value::Map{{"attempt", static_cast<std::int64_t>(attempt_)}, {"text", proto::to_utf8(text)}});
    } else {
      collected_ += text;
    }
  }

  /// On a terminal, a progress bar is seen while it moves.
  void draw_unfinished() {
    const std::string line = lines_.unfinished();
    if (output_.json() || !output_.live() || line == drawn_) {
      return;
    }
    output_.print("\r\x1b[K" + cut_to_width(line, output_.width() - 1));
    drawn_ = line;
  }

  int finish() {
    emit(lines_.finish());
    if (output_.json() && !options_.follow) {
      output_.data(Value::Map{{"attempt", static_cast<std::int64_t>(attempt_)},
                              {"rank", static_cast<std::int64_t>(options_.rank)},
                              {"stream", options_.standard_error ? "stderr" : "stdout"},
                              {"text", proto::to_utf8(collected_)}});
    }
    return 0;
  }

  const LogSource& source_;
  const LogsOptions& options_;
  const re2::RE2* wanted_;
  const Output& output_;
  LogLines lines_;
  std::uint64_t attempt_ = 0;
  std::uint64_t offset_ = 0;
  std::string drawn_;  ///< The unfinished line that stands on the terminal.
  std::string collected_;
};

}  // namespace

int logs(const LogsOptions& options, const Output& output) {
  const Outcome<std::uint64_t> trial = read_number(options.which.back(), "trial");
  if (!trial) {
    return output.fail(trial.failure());
  }
  std::optional<re2::RE2> wanted;
  if (options.grep) {
    wanted.emplace(*options.grep, re2::RE2::Quiet);
    if (!wanted->ok()) {
      return output.fail(usage_failure("--grep: the regular expression " + engine::compact_json(Value(*options.grep)) +
                                       " cannot be used: " + wanted->error()));
    }
  }
  const re2::RE2* const only = wanted ? &*wanted : nullptr;
  std::optional<std::string> named;
  if (options.which.size() == 2) {
    named = options.which.front();
  }
  const LogStream stream{options.standard_error ? "stderr" : "stdout", options.rank};
  if (options.server.state_dir) {
    const StateDirectory state(*options.server.state_dir);
    if (state.has_store() && !lock_holder(state.daemon() / "lock")) {
      Outcome<std::uint64_t> experiment = std::uint64_t{0};
      if (named) {
        experiment = read_number(*named, "experiment");
      } else if (const auto record = load_run_record(state); record && *record && (*record)->experiment) {
        experiment = *(*record)->experiment;
      } else {
        experiment = not_found_failure("which experiment? name it: hpsearch logs EXPERIMENT TRIAL");
      }
      if (!experiment) {
        return output.fail(experiment.failure());
      }
      const LeftLogs source(state.worker() / "attempts", *experiment, *trial, stream);
      return LogPrinter(source, options, only, output).print_all();
    }
  }
  const Outcome<Server> server = Server::reach(options.server, Server::Need::running, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<std::uint64_t> experiment = server->experiment(named);
  if (!experiment) {
    return output.fail(experiment.failure());
  }
  const DaemonLogs source(server->client(), *experiment, *trial, stream);
  return LogPrinter(source, options, only, output).print_all();
}

}  // namespace hpsearch::cli
