#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/background.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/io/zmq/zmq_port.hpp"
#include "hpsearch/workers/core/launch/launch_environment.hpp"
#include "hpsearch/workers/core/worker_machine.hpp"
#include "hpsearch/workers/shell/attempt_preparation.hpp"
#include "hpsearch/workers/shell/gpus/device_use.hpp"
#include "hpsearch/workers/shell/gpus/device_watch.hpp"
#include "hpsearch/workers/shell/shim/launch_order.hpp"
#include "hpsearch/workers/shell/shim/shim_client.hpp"
#include "hpsearch/workers/shell/shim/spare_shims.hpp"
#include "hpsearch/workers/shell/transfer/context_cache.hpp"
#include "hpsearch/workers/shell/transfer/file_delivery.hpp"
#include "hpsearch/workers/shell/transfer/kept_files.hpp"
#include "hpsearch/workers/shell/transfer/log_delivery.hpp"
#include "hpsearch/workers/shell/worker_metrics.hpp"
#include "hpsearch/workers/shell/worker_state.hpp"

namespace hpsearch::workers {

struct WorkerOptions {
  std::string daemon;                       ///< "tcp://127.0.0.1:8078"
  bool over_ipv6 = false;                   ///< Its name has no other addresses.
  std::optional<net::CurveClient> curve{};  ///< For a daemon that demands keys.
  std::string name;
  std::string host{};  ///< The name of the machine.
  std::string slot_kind = "cpu";
  std::string kills_by;  ///< ControlGroup::may_be_made() tells: "cgroup" or "process table".
  std::string address;   ///< By which other workers reach this one.
  LentMachine machine;
  WorkerRules rules;
  std::filesystem::path shim;                        ///< The program hpsearch-shim.
  std::uint64_t most_context_bytes = 2'000'000'000;  ///< Of contexts kept for later attempts.
  /// Between the tries to fetch a context; each is twice the one before. After `context_tries` the attempt is
  /// lost.
  std::chrono::milliseconds context_wait{1000};
  unsigned context_tries = 5;
  std::string pool{};  ///< "" = the default one.
  std::map<std::string, std::string> labels{};
  std::vector<engine::SlotDevice> devices{};  ///< One per slot, or none.
  std::vector<AilingSlot> ailing{};           ///< As found at the start.
  std::vector<AilingSlot> withheld{};         ///< Whatever their devices say.
  DeviceLook look{};                          ///< How to look at them again.
  std::string version{};                      ///< Of the program.
  std::string metrics{};                      ///< "HOST:PORT" where they are served; "" = nowhere.
  std::uint64_t max_unslotted = 0;            ///< Attempts without slots at once.
};

/// Carries out what WorkerMachine wants, and tells it what happened: the only place where the worker's parts
/// meet. Ends when the machine says so. Programs are children of their shims (hpsearch-shim), not of this
/// process, and outlive it unless they are asked to end.
///
/// Threads: the loop's. The loop and the state outlive it.
class WorkerLoop {
 public:
  using OnEnd = std::function<void(bool failed, const std::string& why)>;

  WorkerLoop(net::Loop& loop, const WorkerState& state, WorkerOptions options, OnEnd on_end);
  ~WorkerLoop();
  WorkerLoop(const WorkerLoop&) = delete;
  WorkerLoop& operator=(const WorkerLoop&) = delete;

  /// Goes on with `found`, what WorkerState::take_over() gave. bad_request: the daemon's address is none;
  /// unavailable: the address for metrics is in use.
  [[nodiscard]] engine::Status start(std::vector<SpooledAttempt> found = {});

  /// Ends the programs gently and leaves; asked again, at once.
  void stop();

  /// Leaves at once; the programs run on, and the next worker on this state directory takes them over.
  void leave();

 private:
  void push(Input input);
  void work_off();
  void carry_out(const SendMessage& send);
  void carry_out(const StartProgram& start);
  void carry_out(const AttachProgram& attach);
  void carry_out(const WriteSpool& write);
  void carry_out(const SignalProgram& signal);
  void carry_out(const AnswerProgram& answer);
  void carry_out(const AnswerAhead& ahead);
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
  [[nodiscard]] engine::Status remember();
  [[nodiscard]] engine::Status serve_metrics();
  [[nodiscard]] net::HttpResponse answer_scraper(const net::HttpRequest& request) const;

  void prepare(const engine::AttemptKey& key);
  void not_prepared(const engine::AttemptKey& key, const engine::Error& why);
  [[nodiscard]] engine::Result<pid_t> start_program(const jobs::LaunchSpec& spec);
  void look_at_devices();
  void take(const DeviceReport& report);
  /// `mark`: another one than the attempt's own, that its program was started with; or "".
  void hold_devices(const jobs::LaunchSpec& spec, const std::string& mark = "",
                    bool had_leaked_processes = false);
  /// The program has ended, or is lost; when its container is gone and its devices have let go of it too, the
  /// machine hears of it.
  template <class End>
  void settle(const End& end, bool may_leave_a_container);
  template <class End>
  void settle_files(const End& end);
  template <class End>
  void settle_devices(const End& end);
  template <class End>
  void settle_devices_until(const End& end, engine::Instant until);
  void let_go(const engine::AttemptKey& key, const Input& end);

  [[nodiscard]] engine::Status connect();
  void receive(std::span<const std::byte> frame);
  void notice_refusal(net::DealerPort::Met refusal);
  void knock_again();
  ShimClient& link(const engine::AttemptKey& key);
  [[nodiscard]] ShimClient* find(const engine::AttemptKey& key);
  void reap_shims();
  void remove_condemned();

  net::Loop& loop_;
  const WorkerState& state_;
  WorkerOptions options_;
  OnEnd on_end_;
  WorkerMachine machine_;
  std::deque<Input> inputs_;
  bool working_ = false;
  bool refused_ = false;
  bool noticed_bad_frame_ = false;
  net::Watch knock_again_;
  std::optional<net::DealerPort::Met> door_shut_;  ///< What was said of it last; nothing since it was heard.
  net::Watch end_;
  net::Watch wake_;
  std::optional<engine::Instant> wake_at_;

  std::unique_ptr<net::DealerPort> port_;
  std::uint64_t connection_ =
      0;  ///< Counts connections, so that a late frame of an old one is known as such.
  bool connected_before_ = false;  ///< This one was made already, perhaps more than once.
  std::map<engine::AttemptKey, std::unique_ptr<ShimClient>> links_;
  /// Attempts whose programs are not started yet.
  struct Preparing {
    jobs::LaunchSpec spec;
    AttemptSockets sockets;
    unsigned tries = 0;
    net::Watch again;
  };
  std::map<engine::AttemptKey, Preparing> preparing_;
  KeptFiles kept_files_;
  ContextCache contexts_;
  LogTaker log_taker_;
  std::stop_source end_of_deliveries_;
  FileDelivery file_delivery_;
  bool ending_ = false;    ///< stop() was called.
  std::set<pid_t> shims_;  ///< Children of this process that are not reaped yet.
  net::Watch child_signals_;
  bool removing_condemned_ = false;
  net::Watch condemned_;  ///< Checkpoints that only users may remove; with --run-as submitter.
  SpareShims spares_;
  /// Attempts whose spool is being written, and what is wanted of them afterwards.
  std::map<engine::AttemptKey, std::optional<DeleteAttempt>> spooling_;
  std::optional<KnownDaemon> unremembered_;  ///< To be put down before anything else is.
  TransferCounts transfers_;
  std::unique_ptr<net::HttpServer> metrics_;  ///< None where nobody asked for them.
  DeviceReport last_report_;                  ///< Of the devices.
  DeviceUse use_;
  std::unique_ptr<DeviceWatch> devices_;  ///< None where slots are shares of the processors.
  net::Watch look_again_;
  std::map<engine::AttemptKey, net::Watch> settling_;
  std::map<engine::AttemptKey, Input>
      lingering_;  ///< Told to be stuck: its devices do not let go. How it ended.
  std::shared_ptr<bool> present_ = std::make_shared<bool>(true);
  net::Background background_;
};

}  // namespace hpsearch::workers
