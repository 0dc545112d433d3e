#include "hpsearch/workers/shell/container_runtime.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;

namespace {

using Variables = std::map<std::string, std::string>;

std::string on_path(std::string_view name, const Variables& environment) {
  const auto path = environment.find("PATH");
  std::string_view left = path != environment.end() ? std::string_view(path->second) : "/usr/local/bin:/usr/bin:/bin";
  while (!left.empty()) {
    const std::string_view directory = left.substr(0, left.find(':'));
    std::string file = std::string(directory) + "/" + std::string(name);
    if (!directory.empty() && ::access(file.c_str(), X_OK) == 0) {
      return file;
    }
    left.remove_prefix(std::min(left.size(), directory.size() + 1));
  }
  return "";
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

/// A client whose daemon hangs is none that answers.
bool answers(const std::string& program, const Variables& environment) {
  std::vector<std::string> words{"timeout", "20", program, "version"};
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) {
    variables.push_back(name + "=" + value);
  }
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);  // One that hangs may outlive us.
  pid_t pid = 0;
  const int started = ::posix_spawnp(&pid, "timeout", &files, nullptr, pointers_to(words).data(),
                                     pointers_to(variables).data());
  ::posix_spawn_file_actions_destroy(&files);
  int status = -1;
  while (started == 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return started == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

Result<FoundRuntime> find_container_runtime(const Variables& environment) {
  std::string silent;
  for (std::size_t i = 0; i < container_runtime_names.size(); ++i) {
    const std::string program = on_path(container_runtime_names[i], environment);
    if (program.empty()) {
      continue;
    }
    if (answers(program, environment)) {
      return FoundRuntime{static_cast<ContainerRuntime>(i), program};
    }
    silent += (silent.empty() ? "" : ", ") + program;
  }
  return Error{Errc::unavailable,
               "environment.image: this worker's machine has no container runtime that works: " +
                   (silent.empty() ? "none of apptainer, podman and docker is on its PATH"
                                   : "`version` fails for " + silent)};
}

}  // namespace hpsearch::workers
