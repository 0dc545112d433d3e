#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "cli/interrupts.hpp"
#include "cli/server.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "hpsearch/engine/trial/trial_state.hpp"
#include "hpsearch/proto/utf8.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

constexpr std::uint64_t part_bytes = 128 * 1024;
constexpr std::chrono::seconds patience_with_silence{120};

/// A stretch of a log, and how long the whole of it is so far.
struct Part {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string text;
  [[nodiscard]] std::uint64_t end() const noexcept { return offset + text.size(); }
};

/// Where logs come from.
class LogSource {
 public:
  virtual ~LogSource() = default;
  /// From `offset` on, or the end of the log.
  [[nodiscard]] virtual Outcome<Part> read(std::uint64_t attempt, std::uint64_t offset,
                                           bool from_end) const = 0;
  /// The trial's last attempt so far, and whether it has no more to come.
  struct Course {
    std::uint64_t attempts = 0;
    bool over = false;
  };
  [[nodiscard]] virtual Outcome<Course> course() const = 0;
};

/// Asks the daemon, which asks the worker.
class DaemonLogs final : public LogSource {
 public:
  DaemonLogs(const Client& client, std::uint64_t experiment, std::uint64_t trial, std::string stream)
      : client_(client),
        target_(experiment_target(experiment, "/trials/" + std::to_string(trial))),
        stream_(std::move(stream)) {}

  [[nodiscard]] Outcome<Part> read(std::uint64_t attempt, std::uint64_t offset,
                                   bool from_end) const override {
    std::string target = target_ + "/log?stream=" + stream_ + "&attempt=" + std::to_string(attempt) +
                         "&limit=" + std::to_string(part_bytes);
    target += from_end ? "&from_end=1" : "&offset=" + std::to_string(offset);
    const Outcome<Value> answer = client_.get(target);
    if (!answer) {
      return answer.failure();
    }
    return Part{count_at(*answer, "offset"), count_at(*answer, "size"), text_at(*answer, "text")};
  }

  [[nodiscard]] Outcome<Course> course() const override {
    const Outcome<Value> answer = client_.get(target_);
    if (!answer) {
      return answer.failure();
    }
    const auto state = engine::trial_state_named(text_at(*answer, "state"));
    return Course{count_at(*answer, "attempts"), state && engine::is_closed(*state)};
  }

 private:
  const Client& client_;
  std::string target_;
  std::string stream_;
};

/// Reads the files that the worker of a run has left, when no run is using its directory: nothing grows then,
/// and no worker need be started, which would go on training.
class LeftLogs final : public LogSource {
 public:
  LeftLogs(std::filesystem::path attempts, std::uint64_t experiment, std::uint64_t trial, std::string stream)
      : attempts_(std::move(attempts)),
        prefix_(std::to_string(experiment) + "-" + std::to_string(trial) + "-"),
        stream_(std::move(stream)) {}

  [[nodiscard]] Outcome<Part> read(std::uint64_t attempt, std::uint64_t offset,
                                   bool from_end) const override {
    const std::filesystem::path file = attempts_ / (prefix_ + std::to_string(attempt)) / (stream_ + ".log");
    std::ifstream in(file, std::ios::binary | std::ios::ate);
    if (!in) {
      return not_found_failure("there is no log " + file.string());
    }
    Part part;
    part.size = static_cast<std::uint64_t>(in.tellg());
    part.offset =
        from_end ? (part.size > part_bytes ? part.size - part_bytes : 0) : std::min(offset, part.size);
    part.text.resize(static_cast<std::size_t>(std::min(part_bytes, part.size - part.offset)));
    in.seekg(static_cast<std::streamoff>(part.offset));
    in.read(part.text.data(), static_cast<std::streamsize>(part.text.size()));
    part.text.resize(static_cast<std::size_t>(in.gcount()));
    return part;
  }

  [[nodiscard]] Outcome<Course> course() const override {
    Course course{0, true};
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(attempts_, ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(prefix_)) {
        if (const auto number = read_number(name.substr(prefix_.size()), "attempt")) {
          course.attempts = std::max(course.attempts, *number);
        }
      }
    }
    return course;
  }

 private:
  std::filesystem::path attempts_;
  std::string prefix_;
  std::string stream_;
};

class LogPrinter {
 public:
  LogPrinter(const LogSource& source, const LogsOptions& options, const Output& output)
      : source_(source), options_(options), output_(output) {}

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
      const Outcome<Part> end = source_.read(attempt_, 0, true);
      if (!end) {
        return output_.fail(end.failure());
      }
      const std::string lines =
          last_lines(end->text, static_cast<std::size_t>(std::min<std::uint64_t>(*options_.tail, 1'000'000)));
      emit(lines.empty() ? lines : lines + "\n");
      offset_ = end->end();
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
          attempt_ = attempt_ == 0 ? seen->attempts : attempt_ + 1;
          offset_ = 0;
          continue;
        }
        if (!options_.follow || seen->over || (options_.attempt && attempt_ < seen->attempts)) {
          return finish();
        }
      }
      nap(std::chrono::milliseconds(500));
    }
    return static_cast<int>(Exit::interrupted);
  }

 private:
  /// Everything of the attempt that is there.
  [[nodiscard]] Outcome<engine::Done> drain() {
    while (true) {
      const Outcome<Part> part = source_.read(attempt_, offset_, false);
      if (!part) {
        return part.failure();
      }
      emit(part->text);
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
      output_.print(text);
    } else if (options_.follow) {
      output_.line(
          Value::Map{{"attempt", static_cast<std::int64_t>(attempt_)}, {"text", proto::to_utf8(text)}});
    } else {
      collected_ += text;
    }
  }

  int finish() {
    if (output_.json() && !options_.follow) {
      output_.data(Value::Map{{"attempt", static_cast<std::int64_t>(attempt_)},
                              {"stream", options_.standard_error ? "stderr" : "stdout"},
                              {"text", proto::to_utf8(collected_)}});
    }
    return 0;
  }

  const LogSource& source_;
  const LogsOptions& options_;
  const Output& output_;
  std::uint64_t attempt_ = 0;
  std::uint64_t offset_ = 0;
  std::string collected_;
};

}  // namespace

int logs(const LogsOptions& options, const Output& output) {
  const Outcome<std::uint64_t> trial = read_number(options.which.back(), "trial");
  if (!trial) {
    return output.fail(trial.failure());
  }
  std::optional<std::string> named;
  if (options.which.size() == 2) {
    named = options.which.front();
  }
  const std::string stream = options.standard_error ? "stderr" : "stdout";
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
      return LogPrinter(source, options, output).print_all();
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
  return LogPrinter(source, options, output).print_all();
}

}  // namespace hpsearch::cli
