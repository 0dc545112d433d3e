#include "cli/render/output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "cli/render/fold.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/file_bytes.hpp"
#include "hpsearch/proto/api/daemon.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::cli {
namespace {

/// Messages quote arguments, whose control characters must not reach the terminal.
std::string printable_lines(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t end = text.find('\n');
    out += printable(text.substr(0, end));
    if (end == std::string_view::npos) {
      return out;
    }
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

/// Writes all of it; returns errno if that is impossible. A reader that has closed the pipe is not an error.
int print_to(int descriptor, std::string_view text) {
  return files::write_all(descriptor, text) || errno == EPIPE ? 0 : errno;
}

/// How wide the terminal behind the descriptor is.
std::size_t columns_of(int descriptor) noexcept {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

Output::Output(Format format) : format_(format) {
  const std::string_view terminal = environment("TERM");
  live_ = format == Format::table && ::isatty(STDOUT_FILENO) != 0 && terminal != "dumb" && !terminal.empty();
  colored_ = live_ && environment("NO_COLOR").empty();
}

std::size_t Output::width() const noexcept {
  return live_ ? columns_of(STDOUT_FILENO) : 0;
}

void Output::data(const engine::Value& value) const {
  print(proto::pretty_json(value) + "\n");
}

void Output::line(const engine::Value& value) const {
  print(engine::compact_json(value) + "\n");
}

void Output::print(std::string_view text) const {
  if (const int error = print_to(STDOUT_FILENO, text); error != 0 && write_error_ == 0) {
    write_error_ = error;
  }
}

void Output::sentences(std::string_view text) const {
  print(fold(text, width()));
}

void Output::message(std::string_view text) const {
  const std::size_t width = ::isatty(STDERR_FILENO) != 0 ? columns_of(STDERR_FILENO) : 0;
  // An error here cannot be reported anywhere.
  static_cast<void>(print_to(STDERR_FILENO, fold(text, width) + "\n"));
}

std::optional<bool> Output::ask(std::string_view question) const {
  const pid_t reader = ::tcgetpgrp(STDIN_FILENO);
  if (json() || ::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0 ||
      (reader >= 0 && reader != ::getpgrp())) {
    return std::nullopt;
  }
  static_cast<void>(print_to(STDERR_FILENO, std::string(question) + " [y/N] "));
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

std::string Output::loss() const {
  return write_error_ == 0 ? std::string() : std::string(std::strerror(write_error_));
}

int Output::fail(const Failure& failure) const {
  if (json()) {
    const engine::Error error{failure.code, proto::to_utf8(failure.message)};
    data(engine::Value(
        engine::Value::Map{{"error", proto::encode_value(api::error_of(error, failure.problems))}}));
  } else {
    message("hpsearch: " + printable_lines(failure.message));
    for (const engine::Problem& problem : failure.problems) {
      message("  " + engine::describe(problem));
    }
  }
  return static_cast<int>(failure.exit);
}

std::string Output::paint(Color color, std::string_view text) const {
  if (!colored_ || color == Color::plain) {
    return std::string(text);
  }
  const char* code = "";
  switch (color) {
    case Color::plain:
      break;
    case Color::bold:
      code = "1";
      break;
    case Color::dim:
      code = "2";
      break;
    case Color::red:
      code = "31";
      break;
    case Color::green:
      code = "32";
      break;
    case Color::yellow:
      code = "33";
      break;
    case Color::cyan:
      code = "36";
      break;
  }
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::string Output::paint_state(std::string_view state) const {
  if (state == "FAILED") {
    return paint(Color::red, state);
  }
  if (state == "COMPLETED") {
    return paint(Color::green, state);
  }
  if (state == "RUNNING" || state == "ACTIVE") {
    return paint(Color::cyan, state);
  }
  if (state == "PAUSED" || state == "CANCELED" || state == "STOPPING") {
    return paint(Color::yellow, state);
  }
  return std::string(state);
}

}  // namespace hpsearch::cli
