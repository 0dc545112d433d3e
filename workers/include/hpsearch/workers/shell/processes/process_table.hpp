#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hpsearch::workers {

/// One line of the system's process table (/proc).
struct ProcessInfo {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = '?';
  std::uint64_t threads = 1;  ///< Those that have not ended; of one that only waits to be reaped, 1 at most.
  std::uint64_t start_time = 0;  ///< Clock ticks after boot; with the pid it names one process of this boot.

  /// By a signal, or by a debugger.
  [[nodiscard]] bool stopped() const noexcept { return state == 'T' || state == 't'; }
  /// It only waits to be reaped; it holds nothing any more. One whose first thread has ended looks the same,
  /// but while another one is stuck in the kernel it holds memory and devices.
  [[nodiscard]] bool dead() const noexcept {
    return state == 'X' || state == 'x' || (state == 'Z' && threads <= 1);
  }
};

/// All that this process may see; nothing if some of them could not be read: they may still run.
[[nodiscard]] std::optional<std::vector<ProcessInfo>> all_processes();
[[nodiscard]] std::optional<ProcessInfo> process_info(pid_t pid);

/// Whether the process was started with "NAME=value" in its environment; false when that cannot be read.
[[nodiscard]] bool started_with(pid_t pid, const std::string& assignment);

/// Signals exactly this process: another one that got its pid meanwhile is not hit.
void signal_exactly(const ProcessInfo& process, int signal) noexcept;

/// Names this boot of the machine; "" if the kernel has no name for it.
[[nodiscard]] std::string boot_id();

}  // namespace hpsearch::workers
