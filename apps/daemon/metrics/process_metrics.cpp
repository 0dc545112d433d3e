#include "daemon/metrics/process_metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace hpsearch::daemon {
namespace {

// Fields of /proc/self/stat after the program's name in parentheses (proc(5)): counted in the whole line,
// field 22 is the start in ticks since boot and field 24 the resident pages.
constexpr int start_field = 22;
constexpr int resident_field = 24;
constexpr int first_field_behind_name = 3;

struct ProcessStat {
  double start_ticks = 0;
  double resident_pages = 0;
};

ProcessStat read_stat() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
  ProcessStat stat;
  std::string field;
  for (int number = first_field_behind_name; fields >> field; ++number) {
    if (number == start_field) {
      stat.start_ticks = std::stod(field);
    } else if (number == resident_field) {
      stat.resident_pages = std::stod(field);
    }
  }
  return stat;
}

/// When the machine started, in seconds since the epoch.
double boot_time() {
  std::ifstream file("/proc/stat");
  std::string word;
  double seconds = 0;
  while (file >> word) {
    if (word == "btime") {
      file >> seconds;
      break;
    }
  }
  return seconds;
}

double in_seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

void add_process_metrics(proto::PrometheusText& text) {
  const ProcessStat stat = read_stat();
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  std::error_code error;
  const auto open = std::distance(std::filesystem::directory_iterator("/proc/self/fd", error),
                                  std::filesystem::directory_iterator());
  text.gauge("process_start_time_seconds", "When the process started, in seconds since the epoch.",
             boot_time() + stat.start_ticks / static_cast<double>(sysconf(_SC_CLK_TCK)));
  text.counter("process_cpu_seconds_total", "Processor time used, user and system.",
               in_seconds(used.ru_utime) + in_seconds(used.ru_stime));
  text.gauge("process_resident_memory_bytes", "Resident memory.",
             stat.resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
  text.gauge("process_open_fds", "Open file descriptors.", static_cast<double>(open));
  text.gauge("process_max_fds", "Largest number of file descriptors that may be open.",
             static_cast<double>(files.rlim_cur));
}

}  // namespace hpsearch::daemon
