#include <netdb.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>
#include <sstream>

#include "cli/doctor/observe.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/net/run_command.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds patience{3};

std::optional<bool> clock_state() {
  timex kernel{};  // Changes nothing: its modes are 0.
  const int state = ::adjtimex(&kernel);
  return state < 0 ? std::nullopt : std::optional(state != TIME_ERROR && (kernel.status & STA_UNSYNC) == 0);
}

std::string name_of_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::map<std::string, bool> proxies_of_environment() {
  std::map<std::string, bool> proxies;
  std::string exceptions;
  for (const char* name : {"no_proxy", "NO_PROXY"}) {
    const char* value = std::getenv(name);
    exceptions += value != nullptr ? std::string(",") + value : "";
  }
  for (const char* name :
       {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') {
      proxies.emplace(name, leaves_out_this_machine(exceptions));
    }
  }
  return proxies;
}

std::uint64_t available_memory() {
  std::istringstream lines(text_of("/proc/meminfo"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t kibibytes = 0;
    if (words >> name >> kibibytes && name == "MemAvailable:") {
      return kibibytes * 1024;
    }
  }
  return 0;
}

std::uint64_t hard_limit_of_files() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : 0;
}

/// "1.60.1" of "rclone v1.60.1-DEV".
std::string version_of_rclone() {
  const net::CommandAnswer answer = net::run_command({"rclone", "version"}, patience);
  const std::size_t begin = answer.output.find(" v");
  return !answer.succeeded() || begin == std::string::npos
             ? ""
             : answer.output.substr(begin + 2, answer.output.find('\n') - begin - 2);
}

std::optional<std::string> version_of_python_client() {
  // Without the current directory, which may have a folder of that name.
  const net::CommandAnswer answer = net::run_command(
      {"python3", "-c", "import sys; del sys.path[0]; import hpsearch; print(hpsearch.__version__)"},
      patience);
  return answer.succeeded() ? std::optional(answer.output.substr(0, answer.output.find('\n'))) : std::nullopt;
}

std::vector<std::string> units_with_percent_in_key() {
  std::vector<fs::path> places{"/etc/systemd/system", "/usr/lib/systemd/system",
                               "/usr/local/lib/systemd/system"};
  if (const char* home = std::getenv("HOME"); home != nullptr) {
    places.push_back(fs::path(home) / ".config/systemd/user");
  }
  std::vector<std::string> found;
  for (const fs::path& place : places) {
    std::error_code error;
    for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      if (!name.starts_with("hpsearch") || !name.ends_with(".service")) {
        continue;
      }
      std::istringstream lines(text_of(at->path()));
      for (std::string line; std::getline(lines, line);) {
        if (has_percent_in_key(line)) {
          found.push_back(at->path().string());
          break;
        }
      }
    }
  }
  return found;
}

}  // namespace

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::optional<SeenFile> seen_file(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return std::nullopt;
  }
  return SeenFile{path.string(), info.st_mode & 07777U, info.st_uid};
}

bool has_percent_in_key(std::string_view line) {
  constexpr std::string_view option = "--server-key";
  const std::size_t at = line.find(option);
  if (at == std::string_view::npos || !line.starts_with("ExecStart") || line.size() == at + option.size()) {
    return false;
  }
  const char behind = line[at + option.size()];
  if (behind != ' ' && behind != '=') {
    return false;  // --server-key-file
  }
  std::string_view key = line.substr(at + option.size() + 1);
  key = key.substr(0, key.find(' '));
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i] == '%' && (i + 1 == key.size() || key[++i] != '%')) {
      return true;
    }
  }
  return false;
}

bool leaves_out_this_machine(std::string_view no_proxy) {
  bool has_name = false;
  bool has_address = false;
  while (!no_proxy.empty()) {
    const std::size_t comma = no_proxy.find(',');
    std::string_view one = no_proxy.substr(0, comma);
    one = one.substr(std::min(one.size(), one.find_first_not_of(' ')));
    one = one.substr(0, one.find_last_not_of(' ') + 1);
    if (one == "*") {
      return true;
    }
    has_name = has_name || one == "localhost";
    has_address = has_address || one == "127.0.0.1" || one == "127.0.0.0/8";
    no_proxy.remove_prefix(comma == std::string_view::npos ? no_proxy.size() : comma + 1);
  }
  return has_name && has_address;
}

std::vector<std::string> looked_up(const std::string& name) {
  std::vector<std::string> found;
  if (name.empty()) {
    return found;
  }
  // getaddrinfo() has no time limit.
  const net::CommandAnswer answer = net::run_command({"getent", "ahosts", name}, patience);
  std::istringstream lines(answer.succeeded() ? answer.output : std::string());
  for (std::string line; std::getline(lines, line);) {
    const std::string address = line.substr(0, line.find(' '));
    if (!address.empty() && std::find(found.begin(), found.end(), address) == found.end()) {
      found.push_back(address);
    }
  }
  return found;
}

MachineFacts observe_machine() {
  MachineFacts facts;
  auto rclone = std::async(std::launch::async, version_of_rclone);
  auto python = std::async(std::launch::async, version_of_python_client);
  facts.version = HPSEARCH_VERSION;
  facts.uid = ::geteuid();
  facts.now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  facts.clock_is_synchronized = clock_state();
  facts.host = name_of_host();
  facts.addresses = looked_up(facts.host);
  if (!facts.addresses.empty()) {
    const net::CommandAnswer answer =
        net::run_command({"getent", "hosts", facts.addresses.front()}, patience);
    std::istringstream words(answer.succeeded() ? answer.output : std::string());
    std::string address;
    std::string name;
    if (words >> address >> name) {
      facts.name_of_address = name;
    }
  }
  facts.proxies = proxies_of_environment();
  facts.memory_available = available_memory();
  facts.open_files = hard_limit_of_files();
  facts.units_with_percent = units_with_percent_in_key();
  facts.rclone = rclone.get();
  facts.python_client = python.get();
  return facts;
}

}  // namespace hpsearch::cli
