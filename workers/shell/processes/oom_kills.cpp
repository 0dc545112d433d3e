#include "hpsearch/workers/shell/processes/oom_kills.hpp"

#include <optional>
#include <sstream>
#include <string>

#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

namespace {

constexpr std::size_t longest_file = 4 * 1024 * 1024;

/// A line "oom_kill 3".
std::optional<std::uint64_t> count_in(const std::string& path) {
  const auto text = read_file(path, longest_file);
  std::istringstream words(text ? *text : std::string());
  std::string name;
  for (std::uint64_t count = 0; words >> name >> count;) {
    if (name == "oom_kill") {
      return count;
    }
  }
  return std::nullopt;
}

bool names(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// The memory cgroup of this process in version 1, or its cgroup in version 2; "" = none.
std::string own_group(bool version_1) {
  const auto text = read_file("/proc/self/cgroup", longest_file);
  std::istringstream lines(text ? *text : std::string());
  for (std::string line; std::getline(lines, line);) {  // "4:memory:/group", "0::/group"
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version_1 ? names(controllers, "memory") : line.starts_with("0::")) {
      return line.substr(second + 1);
    }
  }
  return "";
}

std::optional<std::uint64_t> count_of_own_group() {
  const auto mounts = read_file("/proc/self/mounts", longest_file);
  std::istringstream lines(mounts ? *mounts : std::string());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string device;
    std::string place;
    std::string type;
    std::string options;
    words >> device >> place >> type >> options;
    const bool version_1 = type == "cgroup" && names(options, "memory");
    if (!version_1 && type != "cgroup2") {
      continue;
    }
    const std::string file = version_1 ? "/memory.oom_control" : "/memory.events";
    // In a container, the group's name may be the host's, and the mounted directory the group itself.
    for (const std::string& group : {place + own_group(version_1), place}) {
      if (const auto count = count_in(group + file)) {
        return count;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t oom_kills() {
  if (const auto count = count_of_own_group()) {
    return *count;
  }
  return count_in("/proc/vmstat").value_or(0);
}

}  // namespace hpsearch::workers
