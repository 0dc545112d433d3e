#include "hpsearch/workers/shell/processes/container_runtime.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/json_file.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

using Variables = std::map<std::string, std::string>;

constexpr std::chrono::milliseconds try_again_after{500};

std::string on_path(std::string_view name, const Variables& environment) {
  const auto path = environment.find("PATH");
  std::string_view left =
      path != environment.end() ? std::string_view(path->second) : "/usr/local/bin:/usr/bin:/bin";
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

/// The exit status; -1 if there was none, or it came too late: a client's daemon may hang.
int status_of(std::vector<std::string> words, const char* seconds, const Variables& environment) {
  words.insert(words.begin(), {"timeout", "-k", "5", seconds});
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) {
    variables.push_back(name + "=" + value);
  }
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&files,
                                             STDERR_FILENO + 1);  // A hanging one may outlive this process.
  pid_t pid = 0;
  const int started = ::posix_spawnp(&pid, "timeout", &files, nullptr, pointers_to(words).data(),
                                     pointers_to(variables).data());
  ::posix_spawn_file_actions_destroy(&files);
  int status = -1;
  while (started == 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return started == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

Result<FoundRuntime> find_container_runtime(const Variables& environment) {
  std::string silent;
  for (std::size_t i = 0; i < container_runtime_names.size(); ++i) {
    const std::string program = on_path(container_runtime_names[i], environment);
    if (program.empty()) {
      continue;
    }
    if (status_of({program, "version"}, "20", environment) == 0) {
      return FoundRuntime{static_cast<ContainerRuntime>(i), program};
    }
    silent += (silent.empty() ? "" : ", ") + program;
  }
  return Error{Errc::unavailable,
               "environment.image: this worker's machine has no container runtime that works: " +
                   (silent.empty() ? "none of apptainer, podman and docker is on its PATH"
                                   : "`version` fails for " + silent)};
}

Status write_container_record(const std::filesystem::path& path, const ContainerRecord& record) {
  return write_json_file(path, record, false);
}

std::optional<ContainerRecord> read_container_record(const files::Directory& directory,
                                                     const std::string& name) {
  Result<ContainerRecord> record = read_json_file<ContainerRecord>(directory, name);
  return record ? std::optional(*std::move(record)) : std::nullopt;
}

Status remove_container(const ContainerRecord& record, const Variables& environment,
                        std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (status_of({record.program, "rm", "--force", record.name}, "60", environment) == 0) {
      return engine::Done{};
    }
    // To some releases it is an error if there is no container, if it is being removed, or if the daemon
    // doesn't answer.
    if (status_of({record.program, "container", "inspect", record.name}, "20", environment) != 0 &&
        status_of({record.program, "version"}, "20", environment) == 0) {
      return engine::Done{};
    }
    if (std::chrono::steady_clock::now() >= until) {
      return Error{Errc::unavailable, "`" + record.program + " rm --force " + record.name + "` fails"};
    }
    std::this_thread::sleep_for(try_again_after);
  }
}

}  // namespace hpsearch::workers
