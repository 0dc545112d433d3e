#include "hpsearch/io/net/run_command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "hpsearch/io/files/descriptor.hpp"
#include "hpsearch/io/files/file_bytes.hpp"

extern char** environ;  // NOLINT(readability-identifier-naming): POSIX names it.

namespace hpsearch::net {
namespace {

using Clock = std::chrono::steady_clock;

/// Ours, but in the C locale: answers are read by programs.
std::vector<std::string> plain_environment() {
  std::vector<std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view assignment = *at;
    if (!assignment.starts_with("LC_") && !assignment.starts_with("LANG=") &&
        !assignment.starts_with("LANGUAGE=")) {
      variables.emplace_back(assignment);
    }
  }
  variables.emplace_back("LANG=C");
  variables.emplace_back("LC_ALL=C");
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

struct Stream {
  files::Descriptor pipe;
  std::string* text;
};

/// False: it is closed.
bool read_some(Stream& stream) {
  std::array<char, 65'536> piece;  // Filled by read().
  const ssize_t got = ::read(stream.pipe.get(), piece.data(), piece.size());
  if (got > 0) {
    const std::size_t room = most_command_output - stream.text->size();
    stream.text->append(piece.data(), std::min(room, static_cast<std::size_t>(got)));
  }
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

/// Until both streams are closed or the time is up. False: it is up.
bool read_until(Clock::time_point deadline, std::array<Stream, 2>& streams) {
  std::array<bool, 2> open{true, true};
  while (open[0] || open[1]) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) {
      return false;
    }
    std::array<pollfd, 2> waits{};
    for (std::size_t i = 0; i < waits.size(); ++i) {
      waits[i] = {open[i] ? streams[i].pipe.get() : -1, POLLIN, 0};
    }
    if (::poll(waits.data(), waits.size(), static_cast<int>(left.count())) < 0 && errno != EINTR) {
      return false;
    }
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (open[i] && waits[i].revents != 0) {
        open[i] = read_some(streams[i]);
      }
    }
  }
  return true;
}

/// A file without a name that has this text, at its beginning; none if there is no room.
files::Descriptor file_with(std::string_view text) {
  files::Descriptor file(::memfd_create("input", MFD_CLOEXEC));
  const bool written =
      file.get() >= 0 && files::write_all(file.get(), text) && ::lseek(file.get(), 0, SEEK_SET) == 0;
  return written ? std::move(file) : files::Descriptor();
}

}  // namespace

bool CommandAnswer::was_refused() const noexcept {
  return is_missing || (ran && status > 0 && status < 128);
}

std::string CommandAnswer::complaint() const {
  std::string line = errors.substr(0, errors.find('\n'));
  if (line.empty()) {
    line = output.substr(0, output.find('\n'));
  }
  for (const std::string_view prefix :
       {"sbatch: error: ", "squeue: error: ", "scancel: error: ", "sbatch: "}) {
    if (line.starts_with(prefix)) {
      line.erase(0, prefix.size());
    }
  }
  return line.empty() ? "exit status " + std::to_string(status) : line.substr(0, 500);
}

CommandAnswer run_command(const std::vector<std::string>& words, std::chrono::seconds limit,
                          const std::vector<std::string>& more_variables, std::string_view input) {
  CommandAnswer answer;
  const files::Descriptor in = input.empty() ? files::Descriptor() : file_with(input);
  if (!input.empty() && in.get() < 0) {
    answer.errors = std::string("no room for its input: ") + std::strerror(errno);
    return answer;
  }
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0) {
    answer.errors = std::string("no pipe: ") + std::strerror(errno);
    return answer;
  }
  std::array<Stream, 2> streams{Stream{files::Descriptor(out[0]), &answer.output},
                                Stream{{}, &answer.errors}};
  files::Descriptor out_end(out[1]);
  if (::pipe2(err.data(), O_CLOEXEC) != 0) {
    answer.errors = std::string("no pipe: ") + std::strerror(errno);
    return answer;
  }
  streams[1].pipe = files::Descriptor(err[0]);
  files::Descriptor err_end(err[1]);

  std::vector<std::string> arguments = words;
  std::vector<std::string> variables = plain_environment();
  variables.insert(variables.end(), more_variables.begin(), more_variables.end());
  const std::vector<char*> argv = pointers_to(arguments);
  const std::vector<char*> envp = pointers_to(variables);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  if (input.empty()) {
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  } else {
    ::posix_spawn_file_actions_adddup2(&actions, in.get(), STDIN_FILENO);
  }
  ::posix_spawn_file_actions_adddup2(&actions, out_end.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err_end.get(), STDERR_FILENO);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);  // Ports would stay taken.
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), envp.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  out_end = {};
  err_end = {};
  if (failed != 0) {
    answer.is_missing = true;
    answer.errors = words.front() + " cannot be run: " + std::strerror(failed);
    return answer;
  }
  const bool in_time = read_until(Clock::now() + limit, streams);
  if (!in_time) {
    ::kill(-pid, SIGKILL);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  answer.ran = in_time;
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (!in_time) {
    answer.errors = words.front() + " did not answer within " + std::to_string(limit.count()) + " s";
  }
  return answer;
}

}  // namespace hpsearch::net
