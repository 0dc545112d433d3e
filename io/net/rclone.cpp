#include "hpsearch/io/net/rclone.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "hpsearch/io/files/descriptor.hpp"

extern char** environ;  // NOLINT(readability-identifier-naming): POSIX names it.

namespace hpsearch::net {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kept_errors = 16 * 1024;
constexpr std::size_t most_output = std::size_t{64} << 20U;
constexpr std::chrono::milliseconds look_every{200};
// It removes the parts of an upload that it has begun.
constexpr std::chrono::seconds time_to_end{5};

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> variables_with(const std::map<std::string, std::string>& more) {
  // rclone 1.60 ends at once where AWS_CA_BUNDLE is set; its own word for the same file does no harm.
  constexpr std::string_view bundle = "AWS_CA_BUNDLE=";
  std::vector<std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view assignment = *at;
    if (assignment.starts_with(bundle)) {
      if (std::getenv("RCLONE_CA_CERT") == nullptr) {
        variables.push_back("RCLONE_CA_CERT=" + std::string(assignment.substr(bundle.size())));
      }
    } else if (!more.contains(std::string(assignment.substr(0, assignment.find('='))))) {
      variables.emplace_back(assignment);
    }
  }
  for (const auto& [name, value] : more) {
    variables.push_back(name + "=" + value);
  }
  return variables;
}

/// The last message with an error, without rclone's time stamp and in one line; else the last line.
std::string last_message(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  const std::size_t level = std::max(text.rfind("ERROR") + 1, text.rfind("Failed") + 1);  // npos + 1 is 0.
  const std::size_t line = text.rfind('\n', level == 0 ? text.size() : level - 1) + 1;
  const std::string_view from_line = text.substr(line);
  const std::size_t begin = std::min(from_line.find("ERROR"), from_line.find("Failed"));
  std::string message;
  for (const char sign : from_line.substr(begin == std::string_view::npos ? 0 : begin)) {
    if (sign == '\n') {
      message += ' ';  // Object stores continue a message on further lines.
    } else if (sign != '\t') {
      message += sign;
    }
  }
  return message;
}

Error failed(const std::string& what, int error) {
  return Error{Errc::unavailable, what + ": " + std::strerror(error)};
}

}  // namespace

Status find_rclone() {
  const char* path = std::getenv("PATH");
  std::string_view left = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!left.empty()) {
    const std::string_view directory = left.substr(0, left.find(':'));
    const std::string file = std::string(directory.empty() ? "." : directory) + "/rclone";
    if (::access(file.c_str(), X_OK) == 0) {
      return Done{};
    }
    left.remove_prefix(std::min(left.size(), directory.size() + 1));
  }
  return Error{Errc::unavailable,
               "rclone is not on the PATH of this machine; install it (Debian: apt-get install rclone)"};
}

namespace {

/// A running rclone, and the pipes that it writes to.
struct Running {
  pid_t pid = 0;
  files::Descriptor output;
  files::Descriptor errors;
};

Result<Running> start_rclone(const std::vector<std::string>& arguments,
                             const std::map<std::string, std::string>& environment) {
  std::vector<std::string> words{"rclone", "--config=/dev/null", "--log-level=ERROR"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = variables_with(environment);
  std::array<int, 2> output{};
  std::array<int, 2> errors{};
  if (::pipe2(output.data(), O_CLOEXEC) != 0) {
    return failed("cannot make a pipe", errno);
  }
  Running running{0, files::Descriptor(output[0]), {}};
  const files::Descriptor output_end(output[1]);
  if (::pipe2(errors.data(), O_CLOEXEC) != 0) {
    return failed("cannot make a pipe", errno);
  }
  running.errors = files::Descriptor(errors[0]);
  const files::Descriptor errors_end(errors[1]);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, output_end.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, errors_end.get(), STDERR_FILENO);
  // Asio's sockets outlive an exec: an rclone that outlives us would keep our port.
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int started = ::posix_spawnp(&running.pid, "rclone", &files, &attributes, pointers_to(words).data(),
                                     pointers_to(variables).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  return started == 0 ? Result<Running>(std::move(running)) : failed("cannot start rclone", started);
}

/// The output and the errors of rclone, up to the end of both pipes.
struct Written {
  std::string output;
  std::string errors;
  bool too_much = false;
  bool stopped = false;
};

/// False: it is closed.
bool take_some(int pipe, std::string& text) {
  std::array<char, 65'536> piece;  // Filled by read().
  const ssize_t got = ::read(pipe, piece.data(), piece.size());
  if (got > 0) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

Written read_all(const Running& running, const std::atomic<bool>* stopped) {
  Written written;
  std::optional<Clock::time_point> killed_at;
  std::array<bool, 2> open{true, true};
  while (open[0] || open[1]) {
    if (stopped != nullptr && *stopped && !written.stopped) {
      written.stopped = true;
      killed_at = Clock::now() + time_to_end;
      ::kill(running.pid, SIGTERM);
    } else if (killed_at && Clock::now() > *killed_at) {
      ::kill(running.pid, SIGKILL);
      return written;
    }
    std::array<pollfd, 2> waits{pollfd{open[0] ? running.output.get() : -1, POLLIN, 0},
                                pollfd{open[1] ? running.errors.get() : -1, POLLIN, 0}};
    const int patience = stopped == nullptr ? -1 : static_cast<int>(look_every.count());
    if (::poll(waits.data(), waits.size(), patience) <= 0) {
      continue;  // Interrupted, or it is time to look whether it has to stop.
    }
    if (waits[0].revents != 0) {
      open[0] = take_some(running.output.get(), written.output);
      written.too_much = written.too_much || written.output.size() > most_output;
      written.output.resize(std::min(written.output.size(), most_output));
    }
    if (waits[1].revents != 0) {
      open[1] = take_some(running.errors.get(), written.errors);
      written.errors.erase(0, written.errors.size() > kept_errors ? written.errors.size() - kept_errors : 0);
    }
  }
  return written;
}

}  // namespace

Status run_rclone(const std::vector<std::string>& arguments,
                  const std::map<std::string, std::string>& environment, const std::atomic<bool>* stopped) {
  const auto read = read_rclone(arguments, environment, stopped);
  return read ? Status(Done{}) : Status(read.error());
}

Result<std::string> read_rclone(const std::vector<std::string>& arguments,
                                const std::map<std::string, std::string>& environment,
                                const std::atomic<bool>* stopped) {
  if (const Status found = find_rclone(); !found) {
    return found.error();
  }
  const auto running = start_rclone(arguments, environment);
  if (!running) {
    return running.error();
  }
  Written written = read_all(*running, stopped);
  int status = 0;
  while (::waitpid(running->pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (written.stopped) {
    return Error{Errc::unavailable, "rclone was ended, because hpsearch is shutting down"};
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const std::string line = last_message(written.errors);
    return Error{Errc::unavailable, "rclone failed" + (line.empty() ? "" : ": " + line)};
  }
  if (written.too_much) {
    return Error{Errc::unavailable, "rclone wrote more than 64 MiB to its standard output"};
  }
  return std::move(written.output);
}

}  // namespace hpsearch::net
