#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"

namespace hpsearch::workers {

/// Processor time and memory of the processes of a program, as far as they are known.
struct ProgramUse {
  std::optional<std::uint64_t> cpu_micros{};    ///< Processor time since the program's start.
  std::optional<std::uint64_t> memory_bytes{};  ///< Memory now.
};

/// Reads the process table once for all programs, and sums what the processes of each use.
///
/// A program with a cgroup has the figures of the cgroup: its memory is without file cache that nothing has
/// used lately. Otherwise its processes are the first one, all of its session, and their descendants: their
/// memory is the sum of what is resident, so pages that they share count for each of them, and processes
/// that have left the session are missing. Processes in a container are found by the mark in their
/// environment, because the runtime's daemon may start them; if none can be read, their use is unknown.
///
/// Threads: none of its own; callers take turns.
/// Cost:    O(processes) to make, then O(processes of the program); the first program in a container
///          reads all environments.
class ProgramUses {
 public:
  using MarkOf = std::function<std::optional<std::string>(pid_t pid)>;

  /// `mark_of` gives the attempt's mark in a process's environment.
  explicit ProgramUses(std::vector<ProcessInfo> all, MarkOf mark_of = mark_in_environment);

  /// Nothing: its first process has ended.
  [[nodiscard]] std::optional<ProgramUse> of(const ProcessRecord& program, bool in_container);

  [[nodiscard]] static std::optional<std::string> mark_in_environment(pid_t pid);

 private:
  [[nodiscard]] ProgramUse of_tree(pid_t first) const;
  [[nodiscard]] ProgramUse of_marked(const ProcessRecord& program);
  [[nodiscard]] ProgramUse sum(const std::vector<std::size_t>& processes) const;

  std::vector<ProcessInfo> all_;
  MarkOf mark_of_;
  std::unordered_map<pid_t, std::size_t> by_pid_;
  std::unordered_map<pid_t, std::vector<std::size_t>> by_parent_;
  std::unordered_map<pid_t, std::vector<std::size_t>> by_session_;
  std::optional<std::multimap<std::string, std::size_t>> by_mark_;  ///< Nothing: not read yet.
};

}  // namespace hpsearch::workers
