#include "hpsearch/workers/shell/devices/tool.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "hpsearch/workers/shell/files.hpp"

extern char** environ;  // NOLINT(readability-identifier-naming): POSIX names it.

namespace hpsearch::workers {

namespace {

using Clock = std::chrono::steady_clock;

/// Waits until the descriptor has something to read, or its other end is closed. False: not before `until`.
bool wait_for_input(int descriptor, Clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd input{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&input, 1, static_cast<int>(std::max<decltype(left)>(0, left)));
    if (ready > 0 || (ready == 0 && left <= 0)) {
      return ready > 0;
    }
  }
}

/// Why the output can't be used, or nothing.
std::optional<std::string> read_all(int descriptor, const ToolLimits& limits, std::string& output) {
  const Clock::time_point until = Clock::now() + limits.time;
  std::array<char, 16384> part{};
  while (wait_for_input(descriptor, until)) {
    const ssize_t got = ::read(descriptor, part.data(), part.size());
    if (got == 0) {
      return std::nullopt;
    }
    if (got > 0) {
      output.append(part.data(), static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      return "its output cannot be read: " + error_text(errno);
    }
    if (output.size() > limits.bytes) {
      return "it printed more than " + std::to_string(limits.bytes) + " bytes";
    }
  }
  return "it did not answer within " + std::to_string(limits.time.count()) + " ms";
}

}  // namespace

pid_t spawn_tool(const std::vector<std::string>& command, int out, bool in_own_session) {
  std::vector<char*> argv;
  for (const std::string& word : command) {
    argv.push_back(
        const_cast<char*>(word.c_str()));  // NOLINT(cppcoreguidelines-pro-type-const-cast): POSIX's type.
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // A program that hangs may outlive this process.
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, in_own_session ? POSIX_SPAWN_SETSID : short{0});
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, argv.front(), &files, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  return failed == 0 ? child : 0;
}

engine::Result<std::string> tool_output(const std::vector<std::string>& command, const ToolLimits& limits) {
  const auto failed = [&](const std::string& why) {
    return engine::Error{engine::Errc::unavailable, command.front() + ": " + why};
  };
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return failed("cannot make a pipe: " + error_text(errno));
  }
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  const pid_t child = spawn_tool(command, write_end.get(), false);
  write_end = Descriptor();
  if (child <= 0) {
    return failed("it cannot be started");
  }
  std::string output;
  const std::optional<std::string> problem = read_all(read_end.get(), limits, output);
  if (problem) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, WNOHANG);  // Doesn't wait: the driver may block it.
    return failed(*problem);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return failed(WIFEXITED(status) ? "it failed with exit code " + std::to_string(WEXITSTATUS(status))
                                    : "it was killed");
  }
  return output;
}

}  // namespace hpsearch::workers
