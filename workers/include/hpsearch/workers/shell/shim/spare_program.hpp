#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/processes/process.hpp"

namespace hpsearch::workers {

/// A program that was started before its attempt exists, and waits for it: it has the variables of its
/// slot, imports its modules, writes "ready" to its standard input, a socket, and reads from it which program
/// it becomes.
///
/// Its earlier output is read together with the output of the attempt's program.
///
/// Threads: the loop's.
class SpareProgram {
 public:
  using OnEnd = std::function<void(const std::string& why)>;

  /// Starts the program of the launch order in `place`, a directory of this spare, which gets its process
  /// record. `on_end` is called when all its processes have exited; a spare that isn't ready after
  /// five minutes is killed. corrupt, not_found, unavailable: it can't be started.
  [[nodiscard]] static engine::Result<std::unique_ptr<SpareProgram>> start(net::Loop& loop,
                                                                           const AttemptDirectory& place,
                                                                           OnEnd on_end);

  /// Turns it into this program; `before_run` and `on_end` as for ProgramShim::start. The on_end of the spare
  /// isn't called any more. After an error it isn't this program, may have ended, and must be killed.
  [[nodiscard]] engine::Result<RunningProgram> become(const ProgramStart& program,
                                                      const ProgramShim::BeforeRun& before_run,
                                                      ProgramShim::OnEnd on_end);
  /// Kills it. Its on_end isn't called any more, but `on_killed` is when all its processes have exited.
  void kill(std::function<void()> on_killed = {});

  /// Its ProgramShim, for its attempt to keep; at most once. It has to outlive this object.
  [[nodiscard]] std::unique_ptr<ProgramShim> take_programs() { return std::move(own_programs_); }

 private:
  explicit SpareProgram(net::Loop& loop);
  void look();
  [[nodiscard]] engine::Status give(const std::string& text);
  void ended(const ProgramEnd& end);

  std::unique_ptr<ProgramShim> own_programs_;
  ProgramShim& programs_;
  ProgramStart start_;
  RunningProgram running_;
  Descriptor conversation_;  ///< The other end of its standard input.
  net::Watch watch_;
  net::Watch patience_;
  std::string heard_;
  bool is_late_ = false;
  OnEnd on_end_;
  std::function<void()> on_killed_;
};

}  // namespace hpsearch::workers
