#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/background.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/core/worker_machine.hpp"
#include "hpsearch/workers/shell/daemon_connection.hpp"
#include "hpsearch/workers/shell/devices/slot_devices.hpp"
#include "hpsearch/workers/shell/running_programs.hpp"
#include "hpsearch/workers/shell/slots/slot_keeper.hpp"
#include "hpsearch/workers/shell/transfer/daemon_access.hpp"
#include "hpsearch/workers/shell/transfer/file_delivery.hpp"
#include "hpsearch/workers/shell/transfer/kept_files.hpp"
#include "hpsearch/workers/shell/utilization_watch.hpp"
#include "hpsearch/workers/shell/worker_metrics.hpp"
#include "hpsearch/workers/shell/worker_options.hpp"
#include "hpsearch/workers/shell/worker_state.hpp"

namespace hpsearch::workers {

/// Carries out the effects of WorkerMachine and returns their results to it as inputs: the only place that
/// connects the worker's parts. Ends with the effect EndAgent. Programs continue unless asked to end.
///
/// Threads: the loop's. The loop and the state outlive it.
class WorkerLoop {
 public:
  using OnEnd = std::function<void(bool failed, const std::string& why)>;

  /// `slots`: its part in the slot table of the machine; none: it takes no part.
  WorkerLoop(net::Loop& loop, const WorkerState& state, WorkerOptions options, OnEnd on_end,
             std::unique_ptr<SlotKeeper> slots = nullptr);
  ~WorkerLoop();
  WorkerLoop(const WorkerLoop&) = delete;
  WorkerLoop& operator=(const WorkerLoop&) = delete;

  /// Continues with `found`, the result of WorkerState::take_over(). bad_request: the daemon's address is
  /// invalid; unavailable: the address for metrics is in use.
  [[nodiscard]] engine::Status start(std::vector<SpooledAttempt> found = {});

  /// Ends the programs gracefully and then itself; the second call does it at once.
  void stop();

  /// Programs save what they have and end, within this time; then it ends itself. `is_warning`: the other
  /// scheduler says that it will end the allocation, else it is ending it.
  void give_back(engine::Duration within, bool is_warning);

  /// Ends at once; the programs continue, and the next worker on this state directory takes them over.
  void leave();

 private:
  /// The end of a program, until the machine receives it.
  struct EndedProgram {
    engine::AttemptKey key;
    Input end;
    bool may_leave_container = false;
  };
  using Next = std::function<void()>;

  void push(Input input);
  void work_off();
  void carry_out(const SendMessage& send);
  void carry_out(const WriteSpool& write);
  void carry_out(const PublishCheckpoint& publish);
  void carry_out(const DeleteAttempt& remove);
  void carry_out(const NewConnection& connection);
  void carry_out(const ReadLogPart& read);
  void carry_out(const HandOverLog& hand_over);
  void carry_out(const Notice& notice);
  void carry_out(const EndAgent& end);
  void carry_out(const ContextsServed& served);
  void carry_out(const RememberDaemon& remember);
  void carry_out(const ProbeDisk& probe);
  void carry_out(const CheckCheckpointRoot& check);
  void carry_out(const AskTimeLeft& ask);
  void carry_out(const SlotsWanted& wanted);
  void carry_out(const StartProgram& start);
  void carry_out(const auto& of_a_program) { programs_.carry_out(of_a_program); }
  [[nodiscard]] engine::Status remember();

  void settle(const std::shared_ptr<const EndedProgram>& ended, std::size_t step = 0);
  void remove_its_container(const EndedProgram& ended, const Next& next);
  void keep_its_files(const EndedProgram& ended, const Next& next);
  void wait_for_its_devices(const EndedProgram& ended, const Next& next);

  [[nodiscard]] std::optional<SlotsTaken> start_sharing();
  void free_slots_of(const engine::AttemptKey& key);
  void take(const DeviceReport& report);
  [[nodiscard]] WorkerMetricsSources metrics() const;
  void remove_condemned();

  net::Loop& loop_;
  const WorkerState& state_;
  WorkerOptions options_;
  OnEnd on_end_;
  std::unique_ptr<SlotKeeper> slots_;  ///< None if it takes no part in the slot table.
  WorkerMachine machine_;
  std::deque<Input> inputs_;
  bool working_ = false;
  bool refused_ = false;  ///< The connection did not accept a message.
  net::Watch end_;
  net::Watch wake_;
  std::optional<engine::Instant> wake_at_;
  DaemonConnection daemon_;
  KeptFiles kept_files_;
  DaemonAccess access_;
  std::stop_source end_of_deliveries_;
  FileDelivery file_delivery_;
  bool ending_ = false;  ///< stop() was called.
  bool removing_condemned_ = false;
  net::Watch condemned_;  ///< Checkpoints that only users may remove; with --run-as submitter.
  /// Attempts whose spool is being written, and the effect that follows.
  std::map<engine::AttemptKey, std::optional<DeleteAttempt>> spooling_;
  std::optional<KnownDaemon> unremembered_;  ///< Must be written before any spool.
  TransferCounts transfers_;
  std::unique_ptr<net::HttpServer> metrics_;  ///< None without --metrics.
  SlotDevices devices_;
  RunningPrograms programs_;
  UtilizationWatch utilization_;
  net::Background background_;
};

}  // namespace hpsearch::workers
