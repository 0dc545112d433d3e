#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/io/arguments/described_options.hpp"
#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/workers/core/program_message.hpp"
#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/own_directory.hpp"
#include "hpsearch/workers/shell/shim/local_socket.hpp"

// hpsearch-report: reports to the search and gets its answer, for a training program written in shell, or in
// any language that can start a process. One message, one answer. Outside a trial it prints "continue" and
// does nothing.

namespace hpsearch::workers {
namespace {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using engine::Value;
using Clock = std::chrono::steady_clock;

// Exit statuses: the directive, or the kind of failure.
constexpr int exit_continue = 0;
constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr int exit_pause = 10;
constexpr int exit_stop = 11;

// Below the length the answer comes from this machine; a program doesn't wait longer for it than this.
constexpr double default_patience = 10;

struct Arguments {
  std::optional<std::uint64_t> step;
  std::string group = "validation";
  std::vector<std::string> metrics;
  std::string checkpoint;
  double fraction = 0;
  std::vector<std::string> words;
};

int fail(int status, const std::string& message) {
  std::cerr << "hpsearch-report: " << message << "\n";
  return status;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    line.append(line.empty() ? "" : " ").append(word);
  }
  return line;
}

Error wrong(std::string what) {
  return Error{Errc::bad_request, std::move(what)};
}

Result<Value> metrics_from(const std::vector<std::string>& assignments) {
  Value::Map metrics;
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      return wrong("\"" + assignment + "\" is not a metric; write NAME=NUMBER, for example val_acc=0.91");
    }
    const char* begin = assignment.data() + equals + 1;
    begin += *begin == '+' ? 1 : 0;
    const char* end = assignment.data() + assignment.size();
    double number = 0;
    const auto [rest, error] = std::from_chars(begin, end, number);
    if (error != std::errc() || rest != end) {
      return wrong("\"" + assignment + "\": " + assignment.substr(equals + 1) + " is not a number");
    }
    metrics[assignment.substr(0, equals)] = number;
  }
  if (metrics.empty()) {
    return wrong("no metric given; write hpsearch-report --step 3 val_acc=0.91");
  }
  return Value(std::move(metrics));
}

/// Whether the path is the directory, or an entry at any depth below it: also through links, and also if it
/// is a link that leads out.
bool lies_in(const fs::path& path, const fs::path& directory) {
  const fs::path entry = path.has_filename() ? path : path.parent_path();  // Without a slash at the end.
  std::vector<fs::path> places = {entry};
  if (entry.filename() != "." && entry.filename() != "..") {
    places.push_back(entry.has_parent_path() ? entry.parent_path() : ".");
  }
  for (const fs::path& place : places) {
    std::error_code error;
    for (fs::path above = fs::canonical(place, error); !above.empty(); above = above.parent_path()) {
      if (fs::equivalent(above, directory, error)) {
        return true;
      }
      if (above == above.root_path()) {
        break;
      }
    }
  }
  return false;
}

/// Moves the checkpoint's files to where the worker takes them from, and removes all others there.
Status hand_over(const fs::path& path) {
  const std::string directory = variable("HPSEARCH_CHECKPOINT_DIR");
  std::error_code error;
  if (!fs::exists(path, error)) {
    return Error{Errc::not_found, "the checkpoint " + path.string() + " does not exist"};
  }
  if (directory.empty()) {
    return Error{Errc::wrong_state,
                 "HPSEARCH_CHECKPOINT_DIR is not set; set it together with HPSEARCH_SOCKET"};
  }
  if (lies_in(path, directory)) {
    return Done{};  // It was written there, with all files beside it.
  }
  // The program chose the path: its links and mounts are followed.
  const fs::path named = path.has_filename() ? path : path.parent_path();
  const bool whole = fs::is_directory(named, error);
  const fs::path above = named.has_parent_path() ? named.parent_path() : fs::path(".");
  const Result<files::Directory> from =
      files::Directory::open(whole ? named : above, {.mounts = files::Rules::Mounts::entered});
  const Result<files::Directory> to = from ? emptied_checkpoint_directory(directory) : from.error();
  if (!to) {
    return to.error();
  }
  return whole ? files::copy_content(*from, *to)
               : files::copy_tree(*from, named.filename(), *to, named.filename());
}

bool wait_for(int descriptor, short what, std::optional<Clock::time_point> deadline) {
  for (;;) {
    int left = -1;
    if (deadline) {
      const auto millis = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
      left = static_cast<int>(std::clamp<std::int64_t>(millis, 0, 1'000'000));
    }
    pollfd wanted{descriptor, what, 0};
    const int ready = ::poll(&wanted, 1, left);
    if (ready > 0 || (ready == 0 && deadline && Clock::now() >= *deadline)) {
      return ready > 0;
    }
    if (ready < 0 && errno != EINTR) {
      return false;
    }
  }
}

/// The worker's answer; nothing if none came in time.
Result<std::optional<Value>> ask(const std::string& address, const Value& message,
                                 std::optional<Clock::time_point> deadline) {
  const Result<Descriptor> connection = connect_locally(address);
  if (!connection) {
    return Error{Errc::unavailable,
                 "the worker does not listen on " + address + ": " + connection.error().message};
  }
  std::string line = engine::compact_json(message) + "\n";
  while (!line.empty()) {
    const ssize_t put = ::send(connection->get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (!wait_for(connection->get(), POLLOUT, deadline)) {
        return std::optional<Value>();
      }
    } else if (put < 0 && errno != EINTR) {
      return Error{Errc::unavailable, "the worker closed the connection: " + error_text(errno)};
    } else if (put > 0) {
      line.erase(0, static_cast<std::size_t>(put));
    }
  }
  std::string answer;
  while (answer.find('\n') == std::string::npos) {
    if (!wait_for(connection->get(), POLLIN, deadline)) {
      return std::optional<Value>();
    }
    std::array<char, 4096> piece;  // Filled by recv().
    const ssize_t got = ::recv(connection->get(), piece.data(), piece.size(), 0);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) {
      return Error{Errc::unavailable, "the worker closed the connection without an answer"};
    }
    answer.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  Result<Value> value = proto::parse_json(std::string_view(answer).substr(0, answer.find('\n')));
  if (!value) {
    return value.error();
  }
  return std::optional<Value>(*std::move(value));
}

/// No limit if the answer is the search's decision, or confirms that a checkpoint is stored.
std::optional<Clock::time_point> deadline_of(const std::string& type, const Arguments& arguments) {
  const std::optional<std::uint64_t> length = engine::number_in<std::uint64_t>(variable("HPSEARCH_LENGTH"));
  const bool decides = type == "report" && arguments.group == "validation" && length && arguments.step &&
                       *arguments.step >= *length;
  if (decides || type == "checkpoint" || type == "invalid_hyperparameters") {
    return std::nullopt;
  }
  const std::string given = variable("HPSEARCH_REPORT_TIMEOUT");
  const double seconds =
      given.empty() ? default_patience : std::max(0.0, std::strtod(given.c_str(), nullptr));
  return Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(std::min(seconds, 1e6) * 1000));
}

int print_answer(const Value& answer, bool print_length) {
  if (const Value* error = answer.at_path("error"); error != nullptr && error->as_text() != nullptr) {
    return fail(exit_failed, *error->as_text());
  }
  const Value* said = answer.at_path("directive");
  const std::string directive = said != nullptr && said->as_text() != nullptr ? *said->as_text() : "continue";
  const Value* length = answer.at_path("length");
  if (print_length) {
    std::cout << (length != nullptr && length->as_integer() != nullptr ? std::to_string(*length->as_integer())
                                                                       : variable("HPSEARCH_LENGTH"))
              << std::endl;
    return exit_continue;
  }
  std::cout << directive << std::endl;
  // An unknown directive of a later worker must not count as "continue".
  return directive == "continue" ? exit_continue : directive == "pause" ? exit_pause : exit_stop;
}

int run(const std::string& type, const Arguments& arguments, bool print_length) {
  Value::Map message{{"type", type}};
  if (arguments.step) {
    message["step"] = static_cast<std::int64_t>(*arguments.step);
  }
  if (type == "report") {
    Result<Value> metrics = metrics_from(arguments.metrics);
    if (!metrics || !arguments.step) {
      return fail(exit_usage, metrics ? "--step is missing: the length trained so far, in total"
                                      : metrics.error().message);
    }
    message["metrics"] = *std::move(metrics);
    message["group"] = arguments.group;
  } else if (type == "progress" && !print_length) {
    message["fraction"] = arguments.fraction;
  } else if (type == "log") {
    message["text"] = joined(arguments.words);
  } else if (type == "invalid_hyperparameters") {
    message["why"] = joined(arguments.words);
  }
  const std::string address = variable("HPSEARCH_SOCKET");
  if (address.empty()) {
    std::cerr << "hpsearch-report: not in a trial: " << engine::compact_json(Value(std::move(message)))
              << "\n";
    return print_answer(Value::Map{}, print_length);
  }
  if (type == "checkpoint") {
    if (const Status handed = hand_over(arguments.checkpoint); !handed) {
      return fail(exit_failed, handed.error().message);
    }
  }
  const Result<std::optional<Value>> answer =
      ask(address, Value(std::move(message)), deadline_of(type, arguments));
  if (!answer) {
    return fail(exit_failed, answer.error().message);
  }
  if (!*answer && type != "log") {
    std::cerr << "hpsearch-report: no answer in time; continue\n";
  }
  return print_answer(answer->value_or(Value::Map{}), print_length);
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("Report the metrics of a trial and print the directive: continue, pause or stop",
               "hpsearch-report");
  app.set_version_flag("--version", "hpsearch-report " HPSEARCH_VERSION);
  arguments::add_describing_option(app);
  app.footer(
      "Exit code: 0 continue, 10 pause (save a checkpoint, then exit), 11 stop (exit), 1 failed, 2 wrong "
      "arguments");
  Arguments arguments;
  std::uint64_t step = 0;
  CLI::Option* said_step =
      app.add_option("--step", step, "Length trained so far, in total, in the experiment's unit");
  app.add_option("--group", arguments.group,
                 "Group of the metrics: validation (default), training or another word");
  app.add_option("metric", arguments.metrics, "Metrics, each as NAME=NUMBER")->type_name("");
  app.fallthrough();
  CLI::App* checkpoint =
      app.add_subcommand("checkpoint", "Publish a complete checkpoint: a file or a directory");
  checkpoint
      ->add_option("path", arguments.checkpoint,
                   "File or directory; copied unless it is in HPSEARCH_CHECKPOINT_DIR")
      ->required()
      ->type_name("PATH");
  CLI::App* progress =
      app.add_subcommand("progress", "Log the progress of the trial and print the directive");
  progress->add_option("fraction", arguments.fraction, "Fraction of the training that is done, from 0 to 1")
      ->check(CLI::Range(0.0, 1.0));
  CLI::App* log = app.add_subcommand("log", "Write a line to the trial's log");
  log->add_option("text", arguments.words, "Words of the line")->required()->type_name("");
  CLI::App* invalid =
      app.add_subcommand("invalid", "Report invalid hyperparameters; the program should then exit");
  invalid->add_option("why", arguments.words, "Why they are invalid")->required()->type_name("");
  CLI::App* length =
      app.add_subcommand("length", "Print the current length of the trial; a promotion raises it");
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_continue : exit_usage;
  }
  if (said_step->count() > 0) {
    arguments.step = step;
  }
  for (const auto& [command, type] :
       {std::pair{checkpoint, "checkpoint"}, std::pair{progress, "progress"}, std::pair{log, "log"},
        std::pair{invalid, "invalid_hyperparameters"}, std::pair{length, "progress"}}) {
    if (command->parsed()) {
      return run(type, arguments, command == length);
    }
  }
  return run("report", arguments, false);
}

}  // namespace
}  // namespace hpsearch::workers

int main(int argc, char** argv) {
  using namespace hpsearch::workers;
  try {
    return parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    return fail(exit_failed, error.what());
  }
}
