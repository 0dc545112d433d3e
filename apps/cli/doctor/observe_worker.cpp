#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <sstream>

#include "cli/doctor/observe.hpp"
#include "cli/render/text.hpp"
#include "daemon/store/files/disk_space.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/files/descriptor.hpp"
#include "hpsearch/io/files/state_home.hpp"
#include "hpsearch/io/net/run_command.hpp"
#include "hpsearch/io/net/server_names.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;
using net::CommandAnswer;
using net::run_command;

constexpr std::chrono::seconds patience{3};
constexpr int patience_for_port_millis = 2'000;
constexpr std::size_t most_xid_lines = 5;

fs::path directory_of_this_program() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

void look_at_programs(WorkerFacts& facts) {
  const fs::path directory = directory_of_this_program();
  for (const char* name : {"hpsearch-worker", "hpsearch-shim", "hpsearch-ranks", "hpsearch-report"}) {
    if (::access((directory / name).c_str(), X_OK) != 0) {
      facts.missing_programs.emplace_back(name);
    }
  }
  const CommandAnswer devices =
      run_command({(directory / "hpsearch-worker").string(), "--list-devices"}, patience);
  if (!devices.succeeded()) {
    facts.device_problem = devices.complaint();
    facts.device_problem += facts.device_problem.empty() ? "it gave no answer" : "";
  }
}

void look_at_control_groups(WorkerFacts& facts) {
  struct statfs mount {};
  facts.has_control_groups = ::statfs("/sys/fs/cgroup", &mount) == 0 &&
                             static_cast<std::uint64_t>(mount.f_type) == CGROUP2_SUPER_MAGIC;
  std::istringstream lines(text_of("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::")) {
      const std::string own = "/sys/fs/cgroup" + line.substr(3);
      facts.may_make_control_groups =
          ::access(own.c_str(), W_OK) == 0 && ::access((own + "/cgroup.procs").c_str(), W_OK) == 0;
    }
  }
}

void look_at_nvidia(WorkerFacts& facts) {
  std::error_code error;
  facts.has_nvidia_devices = fs::exists("/dev/nvidiactl", error);
  const CommandAnswer answer = run_command(
      {"nvidia-smi", "--query-gpu=index,persistence_mode,driver_version", "--format=csv,noheader"}, patience);
  if (!answer.succeeded()) {
    return;
  }
  std::istringstream lines(answer.output);
  for (std::string line; std::getline(lines, line);) {  // "0, Enabled, 550.54.14"
    const std::size_t first = line.find(", ");
    const std::size_t last = line.rfind(", ");
    if (first == std::string::npos || first == last) {
      continue;
    }
    facts.nvidia_driver = line.substr(last + 2);
    if (line.substr(first + 2, last - first - 2) == "Disabled") {
      facts.without_persistence.push_back("GPU " + line.substr(0, first));
    }
  }
}

std::vector<std::string> xid_lines() {
  CommandAnswer log =
      run_command({"journalctl", "-k", "-q", "-o", "cat", "--since", "-24h", "-g", "NVRM: Xid"}, patience);
  if (!log.succeeded()) {
    log = run_command({"dmesg"}, patience);
  }
  std::vector<std::string> found;
  std::istringstream lines(log.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("NVRM: Xid") != std::string::npos) {
      found.push_back(printable(line));
    }
  }
  if (found.size() > most_xid_lines) {
    found.erase(found.begin(), found.end() - most_xid_lines);
  }
  return found;
}

/// Why a container runtime can't be used; "" if it can. Null if it is not installed.
std::optional<std::string> problem_of_runtime(const std::string& name) {
  const CommandAnswer answer =
      run_command(name == "docker" ? std::vector<std::string>{name, "info", "--format", "{{.ServerVersion}}"}
                                   : std::vector<std::string>{name, "--version"},
                  patience);
  if (answer.is_missing) {
    return std::nullopt;
  }
  return answer.succeeded()
             ? ""
             : printable(answer.complaint().empty() ? "it gave no answer" : answer.complaint());
}

std::uint64_t limit_of_processes() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NPROC, &limit) == 0 ? limit.rlim_cur : 0;
}

/// Why the port can't be reached; "" if it accepts a connection.
std::string problem_of_port(const std::string& endpoint) {
  const std::size_t scheme = endpoint.find("://");
  const std::string address = scheme == std::string::npos ? endpoint : endpoint.substr(scheme + 3);
  const std::string host = net::host_of(address);
  const auto port = engine::number_in<std::uint16_t>(address.substr(address.rfind(':') + 1));
  if (endpoint.starts_with("ipc://") || !port) {
    return "";
  }
  const std::vector<std::string> addresses = looked_up(host);
  if (addresses.empty()) {
    return "the name " + host + " has no address";
  }
  sockaddr_storage to{};
  socklen_t length = 0;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&to);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&to);
  if (::inet_pton(AF_INET, addresses.front().c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(*port);
    length = sizeof *v4;
  } else if (::inet_pton(AF_INET6, addresses.front().c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(*port);
    length = sizeof *v6;
  } else {
    return addresses.front() + " is no address";
  }
  const files::Descriptor socket(::socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&to), length) == 0) {
    return "";
  }
  if (errno != EINPROGRESS) {
    return std::strerror(errno);
  }
  pollfd waiting{socket.get(), POLLOUT, 0};
  if (::poll(&waiting, 1, patience_for_port_millis) != 1) {
    return "no answer";
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? "" : std::strerror(error);
}

fs::path worker_directory_here() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const auto home = files::StateHome::of_environment();
  std::error_code error;
  const fs::path own = home ? home->path() / ("hpsearch-worker-" + std::string(host.data())) : fs::path();
  return !own.empty() && fs::is_directory(own, error) ? own : fs::path("/var/lib/hpsearch-worker");
}

void look_at_directory(WorkerFacts& facts) {
  const fs::path directory = worker_directory_here();
  facts.directory = seen_file(directory);
  if (!facts.directory) {
    return;
  }
  struct statvfs mount {};
  facts.directory_forbids_programs =
      ::statvfs(directory.c_str(), &mount) == 0 && (mount.f_flag & ST_NOEXEC) != 0;
  if (const auto space = daemon::disk_space_at(directory.string())) {
    facts.free_bytes = space->free;
    facts.total_bytes = space->total;
  }
  const auto joined = proto::parse_json(text_of(directory / "joined.json"));
  if (joined && !text_at(*joined, "address").empty()) {
    facts.joined = text_at(*joined, "address");
    facts.joined_problem = problem_of_port(*facts.joined);
  }
}

}  // namespace

WorkerFacts observe_worker() {
  WorkerFacts facts;
  auto xids = std::async(std::launch::async, xid_lines);
  std::map<std::string, std::future<std::optional<std::string>>> runtimes;
  for (const char* name : {"docker", "podman", "apptainer", "singularity"}) {
    runtimes.emplace(name, std::async(std::launch::async, problem_of_runtime, std::string(name)));
  }
  auto nvidia = std::async(std::launch::async, look_at_nvidia, std::ref(facts));
  auto directory = std::async(std::launch::async, [] {
    WorkerFacts some;
    look_at_directory(some);
    return some;
  });
  WorkerFacts programs;
  look_at_programs(programs);
  nvidia.get();
  facts.missing_programs = programs.missing_programs;
  facts.device_problem = programs.device_problem;
  const WorkerFacts place = directory.get();
  facts.directory = place.directory;
  facts.directory_forbids_programs = place.directory_forbids_programs;
  facts.free_bytes = place.free_bytes;
  facts.total_bytes = place.total_bytes;
  facts.joined = place.joined;
  facts.joined_problem = place.joined_problem;
  look_at_control_groups(facts);
  for (auto& [name, problem] : runtimes) {
    if (const auto found = problem.get()) {
      facts.runtimes.push_back(name);
      if (!found->empty()) {
        facts.runtime_problems.emplace(name, *found);
      }
    }
  }
  if (struct statvfs memory{}; ::statvfs("/dev/shm", &memory) == 0) {
    facts.shared_memory = static_cast<std::uint64_t>(memory.f_blocks) * memory.f_frsize;
  }
  facts.processes = limit_of_processes();
  const char* table = std::getenv("HPSEARCH_SLOT_TABLE");
  facts.slot_table =
      seen_file(table != nullptr && *table != '\0' ? std::string(table)
                                                   : "/tmp/hpsearch-slots-" + std::to_string(::geteuid()));
  facts.xid_errors = xids.get();
  return facts;
}

}  // namespace hpsearch::cli
