#include "hpsearch/workers/shell/processes/control_group.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t longest_file = 4 * 1024 * 1024;

bool write_to(const fs::path& path, const std::string& text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && write_all(file.get(), text);
}

/// Where version 2 is mounted; "" if it isn't.
std::string mount_point() {
  const auto mounts = read_file("/proc/self/mounts", longest_file);
  std::istringstream lines(mounts ? *mounts : std::string());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string device;
    std::string place;
    std::string type;
    if (words >> device >> place >> type && type == "cgroup2") {
      return place;
    }
  }
  return "";
}

/// This process's cgroup in version 2, below the mount point.
std::string own_group() {
  const auto text = read_file("/proc/self/cgroup", longest_file);
  std::istringstream lines(text ? *text : std::string());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::")) {
      return line.substr(3);
    }
  }
  return "";
}

/// The number after `name` in a file of lines "NAME NUMBER".
std::optional<std::uint64_t> number_in(const fs::path& path, std::string_view name) {
  const auto text = read_file(path, longest_file);
  std::istringstream words(text ? *text : std::string());
  std::string found;
  for (std::uint64_t number = 0; words >> found >> number;) {
    if (found == name) {
      return number;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ControlGroup> ControlGroup::make(const std::string& name) {
  const std::string mount = mount_point();
  const std::string own = own_group();
  if (mount.empty() || own.empty()) {
    return std::nullopt;
  }
  const fs::path directory = fs::path(mount + own) / name;
  if (::mkdir(directory.c_str(), 0755) != 0) {
    return std::nullopt;
  }
  struct statfs info {};
  const bool real = ::statfs(directory.c_str(), &info) == 0 && info.f_type == CGROUP2_SUPER_MAGIC &&
                    ::access((directory / "cgroup.kill").c_str(), W_OK) == 0;
  if (!real) {  // Another file system is mounted over it, or the kernel is older than 5.14.
    ::rmdir(directory.c_str());
    return std::nullopt;
  }
  // A program that loses one process to the kernel would hang, so all its processes are killed. Fails if
  // memory isn't limited.
  static_cast<void>(write_to(directory / "memory.oom.group", "1"));
  return ControlGroup(directory);
}

bool ControlGroup::may_be_made() {
  const std::optional<ControlGroup> tried = make("hpsearch-try-" + std::to_string(::getpid()));
  if (tried) {
    tried->remove();
  }
  return tried.has_value();
}

bool ControlGroup::take(pid_t pid) const {
  return write_to(directory_ / "cgroup.procs", std::to_string(pid));
}

void ControlGroup::kill() const {
  static_cast<void>(write_to(directory_ / "cgroup.kill", "1"));
}

std::vector<pid_t> ControlGroup::processes() const {
  const auto text = read_file(directory_ / "cgroup.procs", longest_file);
  std::istringstream numbers(text ? *text : std::string());
  std::vector<pid_t> all;
  for (pid_t pid = 0; numbers >> pid;) {
    all.push_back(pid);
  }
  return all;
}

bool ControlGroup::ran_out_of_memory() const {
  return number_in(directory_ / "memory.events", "oom_kill") > 0U;
}

std::optional<std::uint64_t> ControlGroup::cpu_micros() const {
  return number_in(directory_ / "cpu.stat", "usage_usec");
}

std::optional<std::uint64_t> ControlGroup::memory_bytes() const {
  const auto text = read_file(directory_ / "memory.current", longest_file);
  std::istringstream number(text ? *text : std::string());
  std::uint64_t bytes = 0;
  if (!(number >> bytes)) {
    return std::nullopt;
  }
  return bytes - std::min(bytes, number_in(directory_ / "memory.stat", "inactive_file").value_or(0));
}

void ControlGroup::remove() const {
  ::rmdir(directory_.c_str());
}

}  // namespace hpsearch::workers
