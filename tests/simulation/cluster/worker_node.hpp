#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "hpsearch/workers/core/worker_machine.hpp"
#include "simulation/cluster/faults.hpp"
#include "simulation/cluster/network.hpp"
#include "simulation/cluster/process.hpp"
#include "simulation/cluster/promises.hpp"
#include "simulation/cluster/training.hpp"

namespace hpsearch::simulation {

/// A machine with an agent and its programs: the real WorkerMachine, with a pretended shell around it.
class WorkerNode {
 public:
  WorkerNode(VirtualTime& time, Faults& faults, Network& network, Promises& promises, std::size_t number,
             std::uint64_t slots, std::uint64_t seed);

  void boot();                                 ///< The agent starts.
  void crash_agent(engine::Duration away);     ///< kill -9; starts again later.
  void reboot(engine::Duration away);          ///< The machine and everything on it goes down.
  void stop_agent(engine::Duration away);      ///< SIGTERM; starts again later.
  void pause(engine::Duration time) { agent_.stop_for(time); }
  void suspend(engine::Duration time) { agent_.suspend_for(time); }

  void hear(const Frame& frame);

  [[nodiscard]] const std::string& uid() const noexcept { return uid_; }
  [[nodiscard]] bool up() const noexcept { return agent_.alive(); }
  [[nodiscard]] bool runs(const engine::AttemptKey& key) const;
  /// The agent has had the attempt's program without a break since it started it.
  [[nodiscard]] bool holds(const engine::AttemptKey& key) const;
  [[nodiscard]] std::uint64_t slots() const noexcept { return slots_; }

 private:
  struct Program {
    engine::LaunchSpec spec;
    std::unique_ptr<Training> training;
    bool gone = false;  ///< And all its children.
    std::uint64_t ends = 0;
    bool known_to_agent = true;
    bool terminated = false;
    bool by_signal = false;
    int code = 0;
  };

  void push(workers::Input input);
  void work_off();
  void die();
  void start_again_after(engine::Duration away);
  void start_program(const engine::LaunchSpec& spec);
  void program_ended(const std::shared_ptr<Program>& program, bool by_signal, int code, engine::Duration children);
  void all_gone(const std::shared_ptr<Program>& program);

  void carry_out(const workers::SendMessage& send);
  void carry_out(const workers::StartProgram& start);
  void carry_out(const workers::SignalProgram& signal);
  void carry_out(const workers::AnswerProgram& answer);
  void carry_out(const workers::PublishCheckpoint& publish);
  void carry_out(const workers::DeleteAttempt& remove);
  void carry_out(const workers::NewConnection& connection);
  void carry_out(const workers::ReadLogPart& read);
  void carry_out(const workers::Notice& notice);
  void carry_out(const workers::EndAgent& end);

  VirtualTime& time_;
  Faults& faults_;
  Network& network_;
  Promises& promises_;
  std::size_t number_;
  std::uint64_t slots_;
  std::uint64_t seed_;
  std::string uid_;
  engine::Draw draw_;
  Process agent_;
  std::optional<workers::WorkerMachine> machine_;
  std::uint64_t incarnation_ = 0;
  std::uint64_t boots_ = 1;
  std::uint64_t starts_ = 0;
  bool asked_to_stop_ = false;
  engine::Duration away_;
  std::deque<workers::Input> inputs_;
  bool working_ = false;
  bool refused_ = false;
  std::optional<engine::Instant> wake_at_;
  net::Watch wake_;
  std::map<engine::AttemptKey, std::shared_ptr<Program>> programs_;
  std::map<std::uint64_t, std::shared_ptr<Program>> living_;  // Of any agent's; by their order.
  std::uint64_t programs_started_ = 0;
};

}  // namespace hpsearch::simulation
