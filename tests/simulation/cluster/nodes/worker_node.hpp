#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hpsearch/workers/core/worker_machine.hpp"
#include "simulation/cluster/faults/faults.hpp"
#include "simulation/cluster/nodes/kept_attempt.hpp"
#include "simulation/cluster/nodes/network.hpp"
#include "simulation/cluster/nodes/process.hpp"
#include "simulation/cluster/promises.hpp"

namespace hpsearch::simulation {

/// A worker's machine: the real WorkerMachine with a pretended shell around it, and beside it, living on when
/// the agent dies, shims with programs and the files of their attempts.
class WorkerNode {
 public:
  /// `bereaved`: of all workers, the attempts of several of which a process has ended, and not well.
  WorkerNode(VirtualTime& time, Faults& faults, Network& network, Promises& promises,
             std::set<engine::AttemptKey>& bereaved, std::size_t number, std::uint64_t slots,
             std::uint64_t seed);

  void boot();                              ///< The agent starts and goes on with what it finds.
  void crash_agent(engine::Duration away);  ///< kill -9; starts again later. Programs run on.
  void reboot(engine::Duration away);       ///< The machine and everything on it goes down.
  void stop_agent(engine::Duration away);   ///< SIGTERM: ends its programs first.
  void leave(engine::Duration away);        ///< An upgrade: the programs run on.
  void evict(engine::Duration away);        ///< The same because its machine is wanted for something else.
  void replace(engine::Duration away);      ///< Another machine of the same name, with nothing on its disk.
  void kill_shim();                         ///< kill -9 of some attempt's shim.
  void pause(engine::Duration time) {
    ++standstills_;
    agent_.stop_for(time);
  }
  void suspend(engine::Duration time) {
    ++standstills_;
    agent_.suspend_for(time);
  }
  void set_wall_clock(engine::Duration by) { agent_.set_wall_clock(by); }

  /// Nothing can be written where the agent keeps its files.
  void fill_disk(engine::Duration time);
  /// Another store answers it: to be refused for good is no broken promise then, while nothing runs here.
  void meets_a_foreign_store() noexcept { met_a_foreign_store_ = true; }

  void break_shims(engine::Duration time);  ///< Until then every shim dies before it has started its program.
  void break_programs(engine::Duration time);  ///< Until then every program fails at once.
  /// Some of its slots are in trouble for that long: their devices are broken, or cannot be asked.
  void trouble_devices(engine::Duration time);

  void on_event(const Frame& frame);

  [[nodiscard]] const std::string& uid() const noexcept { return uid_; }
  [[nodiscard]] std::uint64_t slots() const noexcept { return slots_; }
  [[nodiscard]] bool runs(const engine::AttemptKey& key) const;
  /// Its agent is up and has the attempt on its disk, and the program runs.
  [[nodiscard]] bool holds(const engine::AttemptKey& key) const;

 private:
  using Kept = std::shared_ptr<KeptAttempt>;

  void push(workers::Input input);
  void work_off();
  void die();
  void perhaps_crash_at_work();
  void start_again_after(engine::Duration away);
  /// Who asked it to stop waits no longer than its programs' grace and its farewell take.
  void has_to_end_soon();
  /// Runs `task` in the agent, a while later, if that agent still lives then.
  void in_agent_after(std::uint64_t most_millis, std::function<void()> task);
  void settle_write(KeptAttempt& attempt);
  [[nodiscard]] std::vector<workers::SpooledAttempt> read_spools();

  void launch(const jobs::LaunchSpec& spec);
  void on_program_message(const Kept& kept, bool by_socket, const std::string& line,
                          std::optional<engine::Units> step);
  void program_ended(const Kept& kept, bool by_signal, int code, engine::Duration children);
  void all_gone(const Kept& kept);
  void lose_program(const Kept& kept);
  void bereave(const Kept& kept);
  void hand_in(const Kept& kept);
  [[nodiscard]] Kept find(const engine::AttemptKey& key) const;

  [[nodiscard]] bool was_alone_too_long() const;
  void note_broken_devices();
  void note_credit(const proto::FromDaemon& message);
  void note_a_day_alone();
  void asked_to_end(KeptAttempt& kept, const std::string& line);
  void carry_out(const workers::SendMessage& send);
  void carry_out(const workers::StartProgram& start);
  void carry_out(const workers::AttachProgram& attach);
  void carry_out(const workers::WriteSpool& write);
  void carry_out(const workers::SignalProgram& signal);
  void carry_out(const workers::AnswerProgram& answer);
  void carry_out(const workers::AnswerAhead& ahead);
  void carry_out(const workers::PublishCheckpoint& publish);
  void carry_out(const workers::DeleteAttempt& remove);
  void carry_out(const workers::NewConnection& connection);
  void carry_out(const workers::ReadLogPart& read);
  void carry_out(const workers::HandOverLog& hand_over);
  void carry_out(const workers::Notice& notice);
  void carry_out(const workers::EndAgent& end);
  void carry_out(const workers::ContextsServed& /*served*/) {}  // Its programs have no files.
  void carry_out(const workers::RememberDaemon& remember) { known_ = remember.daemon; }
  void carry_out(const workers::ProbeDisk& probe);
  void carry_out(const workers::CheckCheckpointRoot& check);
  void carry_out(const workers::AskTimeLeft& /*ask*/) {}     // No other scheduler lends its machine.
  void carry_out(const workers::SlotsWanted& /*wanted*/) {}  // No other search is on its machine.
  [[nodiscard]] bool disk_is_full() const { return time_.now() < disk_full_until_; }

  VirtualTime& time_;
  Faults& faults_;
  Network& network_;
  Promises& promises_;
  std::set<engine::AttemptKey>& bereaved_;
  std::size_t number_;
  std::uint64_t slots_;
  std::uint64_t seed_;
  std::string uid_;
  engine::Draw draw_;
  Process agent_;
  std::optional<workers::WorkerMachine> machine_;
  std::uint64_t incarnation_ = 0;  // On the disk.
  workers::KnownDaemon known_;     // There too.
  engine::Instant disk_full_until_;
  bool met_a_foreign_store_ = false;
  std::uint64_t boots_ = 1;
  std::uint64_t starts_ = 0;
  std::uint64_t standstills_ = 0;
  bool asked_to_stop_ = false;
  bool leaving_ = false;
  engine::Duration away_;
  engine::Instant shims_die_until_;
  engine::Instant programs_fail_until_;
  std::uint64_t machines_ = 1;  ///< That had its name.
  std::vector<workers::UnusableSlot> unusable_;
  std::uint64_t troubles_ = 0;
  engine::Duration orphans_end_after_{};    // 0: they run on.
  engine::Duration orphans_pause_after_{};  // 0: they wait on at their lengths.
  std::size_t batch_bytes_ = 0;             ///< 0: as it is by default.
  std::uint64_t credit_ = 0;                ///< As the daemon granted last.
  engine::Instant in_session_at_;           ///< When it said something in a session.
  std::deque<workers::Input> inputs_;
  bool working_ = false;
  bool refused_ = false;
  std::optional<engine::Instant> wake_at_;
  net::Watch wake_;
  std::map<engine::AttemptKey, Kept> attempts_;  // On the disk.
};

}  // namespace hpsearch::simulation
