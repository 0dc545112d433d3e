#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/processes/process.hpp"

namespace hpsearch::workers {

/// A program that was started before its attempt is there, and waits for it: it has the variables of its
/// slot, imports what it needs, writes "ready" to its standard input, a socket, and reads there what it
/// becomes.
///
/// What it prints before is read with what it prints as the attempt's program.
///
/// Threads: the loop's.
class SpareProgram {
 public:
  using OnEnd = std::function<void(const std::string& why)>;

  /// Starts the program of the launch order in `place`, a directory of this spare, which gets its process
  /// record. `on_end` is called when it has ended, and nothing is left of it; one that is not ready after
  /// five minutes is killed. corrupt, not_found, unavailable: it cannot be started.
  [[nodiscard]] static engine::Result<std::unique_ptr<SpareProgram>> start(net::Loop& loop,
                                                                           const AttemptDirectory& place,
                                                                           OnEnd on_end);

  /// From now on it is this program; `before_run` and `on_end` as ProgramShim::start has them, and the
  /// on_end of the spare is not called any more. Any error: it is not, may have ended, and is to be killed.
  [[nodiscard]] engine::Result<RunningProgram> become(const ProgramStart& program,
                                                      const ProgramShim::BeforeRun& before_run,
                                                      ProgramShim::OnEnd on_end);
  /// Kills it; on_end is not called any more, but `on_gone` when nothing is left of it.
  void kill(std::function<void()> on_gone = {});

  /// What it runs in, for its attempt to keep; at most once, and it has to outlive this.
  [[nodiscard]] std::unique_ptr<ProgramShim> take_programs() { return std::move(own_programs_); }

 private:
  explicit SpareProgram(net::Loop& loop);
  void look();
  [[nodiscard]] engine::Status give(const std::string& text);
  void ended(const ProgramEnd& end);

  net::Loop& loop_;
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
  std::function<void()> on_gone_;
};

}  // namespace hpsearch::workers
