#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/net/background.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/core/effects.hpp"
#include "hpsearch/workers/shell/attempt_preparation.hpp"
#include "hpsearch/workers/shell/devices/slot_devices.hpp"
#include "hpsearch/workers/shell/shim/shim_client.hpp"
#include "hpsearch/workers/shell/shim/spare_shims.hpp"
#include "hpsearch/workers/shell/transfer/context_cache.hpp"
#include "hpsearch/workers/shell/transfer/daemon_access.hpp"
#include "hpsearch/workers/shell/worker_options.hpp"
#include "hpsearch/workers/shell/worker_state.hpp"

namespace hpsearch::workers {

/// The programs of the worker's attempts: prepares and starts each in its shim, and is connected to the
/// shims. Programs are children of their shims (hpsearch-shim), not of this process, and outlive it.
///
/// Threads: the loop's. Everything that the constructor takes outlives it.
class RunningPrograms {
 public:
  struct Handlers {
    std::function<void(Input input)> on_input;
    /// A program has ended or is lost. If a runtime's client ends with status 0, its container is removed.
    std::function<void(const engine::AttemptKey& key, const Input& end, bool may_leave_container)> on_end;
    std::function<void(double seconds)> on_context;  ///< A context was provided in this time.
  };

  RunningPrograms(net::Loop& loop, const WorkerState& state, const WorkerOptions& options,
                  SlotDevices& devices, Handlers handlers);
  ~RunningPrograms();
  RunningPrograms(const RunningPrograms&) = delete;
  RunningPrograms& operator=(const RunningPrograms&) = delete;

  /// Contexts are fetched from that daemon from now on.
  void fetch_contexts_from(const DaemonAccess& daemon) { contexts_.fetch_from(daemon); }
  /// Starts no more spares.
  void stop_spares() { spares_.stop(); }
  /// `mark`: the assignment with which its program was started, if it isn't the attempt's own; or "".
  void hold_devices(const jobs::LaunchSpec& spec, const std::string& mark = "",
                    bool had_leaked_processes = false);

  void carry_out(const StartProgram& start);
  void carry_out(const AttachProgram& attach);
  void carry_out(const SignalProgram& signal);
  void carry_out(const AnswerProgram& answer);
  void carry_out(const AnswerAhead& ahead);
  /// Drops the part of the attempt's journal before `position`.
  void drop_journal_before(const engine::AttemptKey& key, std::uint64_t position);
  void forget(const engine::AttemptKey& key);

 private:
  /// An attempt whose program hasn't been started yet.
  struct Preparing {
    jobs::LaunchSpec spec;
    AttemptSockets sockets;
    unsigned tries = 0;
    net::Watch again;
  };

  void prepare(const engine::AttemptKey& key);
  void not_prepared(const engine::AttemptKey& key, const engine::Error& why);
  [[nodiscard]] engine::Result<pid_t> start_program(const jobs::LaunchSpec& spec);
  ShimClient& link(const engine::AttemptKey& key);
  [[nodiscard]] ShimClient* find(const engine::AttemptKey& key);
  void reap_shims();

  net::Loop& loop_;
  const WorkerState& state_;
  const WorkerOptions& options_;
  SlotDevices& devices_;
  Handlers handlers_;
  std::map<engine::AttemptKey, std::unique_ptr<ShimClient>> links_;
  std::map<engine::AttemptKey, Preparing> preparing_;
  ContextCache contexts_;
  std::set<pid_t> shims_;  ///< Children of this process that aren't reaped yet.
  net::Watch child_signals_;
  SpareShims spares_;
  net::Background background_;
};

}  // namespace hpsearch::workers
