#pragma once

#include <functional>
#include <memory>
#include <string>

#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/shim/shim.hpp"
#include "hpsearch/workers/shell/shim/spare_program.hpp"

namespace hpsearch::workers {

/// A shim whose attempt doesn't exist yet: it has a spare. When the agent sends RunAttempt, it becomes that
/// attempt's Shim, which takes over the connection. Unlike a Shim, it doesn't outlive its agent: when the
/// connection closes, the spare is killed. When the spare ends early, it sends SpareEnded.
///
/// Threads: the loop's. One per process.
class WaitingShim {
 public:
  using OnAttempt = std::function<void(const AttemptDirectory& attempt)>;
  using OnEnd = std::function<void()>;

  /// `place`: the spare's directory, with its launch order; removed when an attempt takes the spare, or the
  /// spare ends. `on_attempt` is called before any other action for the attempt.
  WaitingShim(net::Loop& loop, AttemptDirectory place, Descriptor agent, OnAttempt on_attempt, OnEnd on_end);

  /// After an error there is no spare.
  [[nodiscard]] engine::Status start();

 private:
  void read_agent();
  void run(const std::string& directory);
  void end_spare();
  void spare_ended(const std::string& why);
  void over();
  void remove_place() const;

  net::Loop& loop_;
  AttemptDirectory place_;
  Descriptor agent_;
  OnAttempt on_attempt_;
  OnEnd on_end_;
  net::Watch agent_watch_;
  MessageReader<ToShim> messages_;
  std::unique_ptr<SpareProgram> spare_;
  bool has_ended_ = false;      ///< The spare ended early.
  std::unique_ptr<Shim> shim_;  ///< Set when it has an attempt.
};

}  // namespace hpsearch::workers
