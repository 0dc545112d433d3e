#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hpsearch::workers {

/// A line of the system's process table (/proc).
struct ProcessInfo {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = '?';
  std::uint64_t threads = 1;     ///< Threads that haven't ended; at most 1 for a zombie.
  std::uint64_t start_time = 0;  ///< Clock ticks after boot; with the pid it is unique for this boot.
  std::uint64_t cpu_ticks = 0;   ///< Processor time, also that of children that have ended and were reaped.
  std::uint64_t resident_pages = 0;

  /// Whether a signal or a debugger stopped it.
  [[nodiscard]] bool stopped() const noexcept { return state == 'T' || state == 't'; }
  /// A zombie, which holds no resources. A process whose first thread has ended looks the same,
  /// but while another thread is stuck in the kernel it holds memory and devices.
  [[nodiscard]] bool dead() const noexcept {
    return state == 'X' || state == 'x' || (state == 'Z' && threads <= 1);
  }
};

/// All processes visible to this one; nothing if some could not be read, because they may still run.
[[nodiscard]] std::optional<std::vector<ProcessInfo>> all_processes();
[[nodiscard]] std::optional<ProcessInfo> process_info(pid_t pid);

/// The value of a variable in the environment with which the process was started; nothing if it isn't there
/// or can't be read.
[[nodiscard]] std::optional<std::string> started_with_value(pid_t pid, std::string_view name);
/// Whether the process was started with "NAME=value" in its environment; false if that can't be read.
[[nodiscard]] bool started_with(pid_t pid, const std::string& assignment);

/// Signals exactly this process, never another one that has got its pid meanwhile.
void signal_exactly(const ProcessInfo& process, int signal) noexcept;

/// Identifies this boot of the machine; "" if the kernel has no id for it.
[[nodiscard]] std::string boot_id();

}  // namespace hpsearch::workers
