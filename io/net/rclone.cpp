#include "hpsearch/io/net/rclone.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

extern char** environ;  // NOLINT(readability-identifier-naming): POSIX names it.

namespace hpsearch::net {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;

namespace {

constexpr std::size_t kept_errors = 16 * 1024;

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

/// The last line that says something, without rclone's time stamp.
std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  const std::size_t begin = text.rfind('\n');
  text.remove_prefix(begin == std::string_view::npos ? 0 : begin + 1);
  const std::size_t level = std::min(text.find("ERROR"), text.find("Failed"));
  return std::string(level == std::string_view::npos ? text : text.substr(level));
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

Status run_rclone(const std::vector<std::string>& arguments,
                  const std::map<std::string, std::string>& environment) {
  if (const Status found = find_rclone(); !found) {
    return found;
  }
  std::vector<std::string> words{"rclone", "--config=/dev/null", "--log-level=ERROR"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = variables_with(environment);
  std::array<int, 2> errors{};
  if (::pipe2(errors.data(), O_CLOEXEC) != 0) {
    return failed("cannot make a pipe", errno);
  }
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, errors[1], STDERR_FILENO);
  // Asio's sockets outlive an exec: an rclone that outlives us would keep our port.
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int started = ::posix_spawnp(&pid, "rclone", &files, &attributes, pointers_to(words).data(),
                                     pointers_to(variables).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  ::close(errors[1]);
  std::string said;
  std::array<char, 4096> piece;  // Filled by read().
  for (;;) {
    const ssize_t got = started == 0 ? ::read(errors[0], piece.data(), piece.size()) : 0;
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    said.append(piece.data(), static_cast<std::size_t>(got));
    said.erase(0, said.size() > kept_errors ? said.size() - kept_errors : 0);
  }
  ::close(errors[0]);
  if (started != 0) {
    return failed("cannot start rclone", started);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return Done{};
  }
  const std::string line = last_line(said);
  return Error{Errc::unavailable, "rclone failed" + (line.empty() ? "" : ": " + line)};
}

}  // namespace hpsearch::net
