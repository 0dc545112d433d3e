#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/core/launch/program_start.hpp"
#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/processes/control_group.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"

namespace hpsearch::workers {

/// A running program, with the ends of its pipes.
struct RunningProgram {
  pid_t pid = 0;
  std::uint64_t start_time = 0;
  std::string group;  ///< The directory of its cgroup; "" if it is found in the process table.
  std::string mark;   ///< If it is a spare: the assignment with which it was started; else "".
  Descriptor out;     ///< Its standard output; nonblocking.
  Descriptor err;
};

/// How a program ended.
struct ProgramEnd {
  bool by_signal = false;
  int code = 0;                ///< Exit status, or the number of the signal.
  bool out_of_memory = false;  ///< The kernel killed one of its processes for lack of memory.
};

/// Starts programs, each as the leader of a session, and detects when all processes of one have exited: the
/// first one and all its descendants, detached daemons included.
///
/// If possible, each program gets a cgroup. In any case this process adopts orphans of its
/// descendants, so a double fork can't escape, and processes that others started for the program (the
/// daemon behind `docker run`) are found by its mark. When a program's first process ends, the remaining ones
/// are killed; if it was asked to end, they first have the caller's grace period. Killing is repeated
/// until none is left.
///
/// Threads: the loop's. One per process: it reaps every child.
class ProgramShim {
 public:
  using OnEnd = std::function<void(const ProgramEnd& end)>;
  using BeforeRun = std::function<engine::Status(const RunningProgram& program)>;

  using OnStuck = std::function<void(pid_t pid)>;

  /// `on_stuck` is called once per program whose processes outlive the first SIGKILL by a minute.
  explicit ProgramShim(net::Loop& loop, OnStuck on_stuck = {});
  ~ProgramShim();
  ProgramShim(const ProgramShim&) = delete;
  ProgramShim& operator=(const ProgramShim&) = delete;

  /// Calls `before_run` while the new process waits, so that it is recorded before it runs.
  /// `on_end` is called once, from the loop, when no process is left. `input` becomes its standard input;
  /// by default that is empty. not_found, unavailable: the program can't be run; the sentence names it.
  [[nodiscard]] engine::Result<RunningProgram> start(const ProgramStart& what, const BeforeRun& before_run,
                                                     OnEnd on_end, const Descriptor* input = nullptr);

  /// Programs that start from now on ignore SIGUSR1 and SIGUSR2, unless they handle them: other schedulers
  /// send their warnings to all processes of a job.
  void let_ignore_warnings() noexcept { ignore_warnings_ = true; }
  /// A running program becomes another one: it has this token, too, and this is called at its end.
  void rename(pid_t pid, const std::string& token, OnEnd on_end);
  void when_stuck(OnStuck on_stuck) { on_stuck_ = std::move(on_stuck); }

  /// Signals the program's first process only; no effect if it has exited.
  void notify(pid_t pid, int signal);
  /// Signals all processes of the program that began as `pid`; no effect if they have exited. Processes that
  /// outlive the first one are killed `grace` after the first of these signals: the process
  /// that asked for the end may not live that long.
  void terminate(pid_t pid, std::chrono::milliseconds grace);
  void kill(pid_t pid);

 private:
  struct Kept {
    std::vector<std::string> tokens;
    std::optional<ControlGroup> group;
    OnEnd on_end;
    bool exited = false;  ///< The first process has exited.
    int status = 0;
    std::optional<std::chrono::steady_clock::time_point>
        leave_until;  ///< SIGTERM was sent: the other processes may end voluntarily.
    bool killing = false;
    std::int64_t sweeps = 0;
    std::optional<std::chrono::steady_clock::time_point> killed_at;  ///< The time of the first SIGKILL.
    bool reported_stuck = false;
    std::uint64_t oom_kills_before = 0;
    net::Watch again;
    Descriptor process;  ///< A pidfd; none if the kernel doesn't support it.
    net::Watch death;    ///< Watches the first process with it, because a signal may be lost.
  };

  void reap();
  void watch_death(pid_t pid, Kept& kept);
  void sweep(pid_t pid);
  void end(std::map<pid_t, Kept>::iterator program);
  void force(Kept& kept, const std::vector<ProcessInfo>& left);
  [[nodiscard]] std::vector<ProcessInfo> left_of(pid_t pid, const std::vector<ProcessInfo>& all) const;

  net::Loop& loop_;
  OnStuck on_stuck_;
  bool ignore_warnings_ = false;
  std::map<pid_t, Kept> programs_;
  std::set<pid_t> before_us_;  ///< Children that this process had before, from the script that it replaced.
  net::Watch child_signals_;
};

/// The file that execvp would run for argv[0] with this environment; not_found has PATH.
[[nodiscard]] engine::Result<std::string> find_program(const ProgramStart& what);

}  // namespace hpsearch::workers
