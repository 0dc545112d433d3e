#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::cli {

/// How a process ended: "exit status 1", "signal 9 (Killed)".
struct Ending {
  bool signaled = false;
  int number = 0;
  [[nodiscard]] std::string describe() const;
};

/// A helper process in a session of its own, so that Ctrl-C at the terminal reaches only this process. It
/// gets SIGTERM if this process dies: no other process would end it.
///
/// Owns:    the process, until it has ended; the destructor sends SIGTERM and does not wait.
/// Threads: one; SIGCHLD and waiting for other children are unaffected.
class ChildProcess {
 public:
  /// Starts argv[0] (a path, or a name to look for in PATH) with standard input closed and its output
  /// appended to the file `log`. unavailable: it cannot be started; the message has the reason.
  [[nodiscard]] static engine::Result<ChildProcess> start(const std::vector<std::string>& argv,
                                                          const std::string& log);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  /// How it ended, or null while it runs. Does not wait.
  [[nodiscard]] std::optional<Ending> ended();

  /// Sends the signal if it still runs.
  void signal(int number) noexcept;

  /// Waits at most this long until it has ended; false if it still runs.
  [[nodiscard]] bool wait(std::chrono::milliseconds at_most);

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;
  std::optional<Ending> ending_;
};

/// A program of hpsearch: beside the running one if it is there, otherwise only its name, to be found in
/// PATH.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace hpsearch::cli
