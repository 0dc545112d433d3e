#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/net/loop.hpp"
#include "hpsearch/net/zmq_port.hpp"
#include "hpsearch/workers/core/launch_environment.hpp"
#include "hpsearch/workers/core/worker_machine.hpp"
#include "hpsearch/workers/shell/background.hpp"
#include "hpsearch/workers/shell/process.hpp"
#include "hpsearch/workers/shell/worker_state.hpp"

namespace hpsearch::workers {

struct WorkerOptions {
  std::string daemon;  ///< "tcp://127.0.0.1:8078"
  std::string name;
  std::string slot_kind = "cpu";
  LentMachine machine;
  WorkerRules rules;
};

/// Carries out what WorkerMachine wants, and tells it what happened: the only place where the worker's parts
/// meet. Ends when the machine says so.
///
/// Threads: the loop's. The loop and the state outlive it.
class WorkerLoop {
 public:
  using OnEnd = std::function<void(bool failed, const std::string& why)>;

  WorkerLoop(net::Loop& loop, const WorkerState& state, WorkerOptions options, OnEnd on_end);
  ~WorkerLoop();
  WorkerLoop(const WorkerLoop&) = delete;
  WorkerLoop& operator=(const WorkerLoop&) = delete;

  /// bad_request: the daemon's address is none.
  [[nodiscard]] engine::Status start();

  /// Ends the programs gently and leaves; asked again, at once.
  void stop();

 private:
  struct Attempt;

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
  void carry_out(const Notice& notice);
  void carry_out(const EndAgent& end);

  [[nodiscard]] engine::Status connect();
  void receive(std::span<const std::byte> frame);
  [[nodiscard]] engine::Status launch(Attempt& attempt, const engine::LaunchSpec& spec);
  bool read_output(Attempt& attempt, bool is_out);
  void take_output(Attempt& attempt, bool is_out, std::string_view bytes);
  void take_line(Attempt& attempt, bool is_out, std::string_view line);
  void program_ended(const engine::AttemptKey& key, bool by_signal, int code);
  [[nodiscard]] Attempt* find(const engine::AttemptKey& key);

  net::Loop& loop_;
  const WorkerState& state_;
  WorkerOptions options_;
  OnEnd on_end_;
  WorkerMachine machine_;
  std::string boot_id_;

  std::deque<Input> inputs_;
  bool working_ = false;
  bool refused_ = false;
  bool noticed_bad_frame_ = false;
  net::Watch end_;
  net::Watch wake_;
  std::optional<engine::Instant> wake_at_;

  std::unique_ptr<net::DealerPort> port_;
  std::uint64_t connection_ =
      0;  ///< Counts connections, so that a late frame of an old one is known as such.
  std::map<engine::AttemptKey, std::unique_ptr<Attempt>> attempts_;
  /// Attempts whose spool is being written, and what is wanted of them afterwards.
  std::map<engine::AttemptKey, std::optional<DeleteAttempt>> spooling_;
  std::shared_ptr<bool> present_ = std::make_shared<bool>(true);
  ProgramKeeper keeper_;
  Background background_;
};

}  // namespace hpsearch::workers
