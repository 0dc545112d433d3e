#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/engine.hpp"
#include "hpsearch/proto/wire/wire.hpp"
#include "simulation/cluster/ledger.hpp"
#include "simulation/cluster/nodes/virtual_time.hpp"

namespace hpsearch::simulation {

/// By this uid a stranger says that it has seen a later start of the daemon.
inline constexpr std::string_view who_has_seen_a_later_daemon = "who has seen a later daemon";
/// By this one a worker goes that lies about its own work: of that nobody keeps a ledger.
inline constexpr std::string_view liar_uid = "liar";

/// What the cluster promises, checked from outside: told what became durable, what left the daemon, and what
/// happened to programs, it says which promise was broken first.
///
/// It keeps a second engine, the fold of what is durable, and compares what takes effect with the ledger of
/// what the programs really did.
class Promises {
 public:
  explicit Promises(VirtualTime& time);

  [[nodiscard]] const std::string& broken() const noexcept { return broken_; }
  void break_because(const std::string& what);

  /// Tells what becomes durable, for people.
  void watch(std::function<void(const std::string&)> tell) { tell_ = std::move(tell); }

  // --- the daemon ---

  /// One begins, and later ends: only in between do budgets of time run.
  void daemon_began();
  void daemon_ended();

  /// A group goes to the disk, and `clock` is what the daemon's clock shows. Whether the leases it ends had
  /// to end is found out now: perhaps only the next daemon finds the group there, and everybody counts as
  /// heard at its start.
  void offered(std::span<const engine::Event> events, engine::Instant clock);
  /// A group is on disk.
  void committed(std::span<const engine::Event> events);
  [[nodiscard]] engine::Lsn durable() const noexcept { return durable_; }
  /// Whoever reads the disk must find exactly what is durable.
  void recovered(const engine::Engine& engine);
  /// Nothing is on its way to the disk: what lives is what is durable.
  void settled(const engine::Engine& live);
  /// A frame leaves the daemon, for whomever: what it has somebody do has to be durable.
  void ordered(const proto::FromDaemon& message);
  /// For a worker that does not lie: so has what it says about that one's reports and attempts.
  void told(const proto::FromDaemon& message);
  /// A user was answered about a command that was carried out when the engine stood at `lsn`.
  void answered(engine::Lsn lsn);

  // --- programs ---

  /// Where the truth about attempts on the workers is asked for.
  struct Witness {
    /// A program, or a child of it, is alive on the worker with this uid; "" = on any.
    std::function<bool(const engine::AttemptKey&, const std::string& uid)> running;
    /// Its agent has it, and was heard, or the daemon that runs now began, less than lost_after before `at`.
    /// The agent with this uid; "" = any.
    std::function<bool(const engine::AttemptKey& origin, const std::string& uid, engine::Instant at)>
        held_and_known;
    /// It fails before its first report each time, wherever it runs.
    std::function<bool(engine::ExperimentId, engine::TrialNumber)> flawed =
        [](engine::ExperimentId, engine::TrialNumber) { return false; };
  };
  void ask(Witness witness) { witness_ = std::move(witness); }

  [[nodiscard]] Ledger& ledger() noexcept { return ledger_; }
  /// `own`: the worker was asked to stop, or lost its own memory of the attempt.
  void program_signalled(const engine::AttemptKey& origin, bool own);

  // --- what there is ---

  struct Attempt {
    engine::WorkerId worker;
    std::vector<engine::SlotIndex> slots;
    std::uint64_t seq = 0;
    bool started = false;
    bool lost = false;
    bool exited = false;
    /// On other workers, by rank from 1.
    struct Member {
      engine::WorkerId worker;
      std::vector<engine::SlotIndex> slots;
      bool started = false;
      bool gone = false;
    };
    std::vector<Member> others;
    bool first_gone = false;    ///< Of an attempt on several workers: rank 0 is, with or without an exit.
    engine::AttemptKey origin;  ///< As its worker names it: with the lease its program was started under.
  };
  [[nodiscard]] const std::map<engine::AttemptKey, Attempt>& attempts() const noexcept { return attempts_; }
  /// It is not over, and the worker with this uid has no part of it.
  [[nodiscard]] bool belongs_to_another(const engine::AttemptKey& origin, std::string_view uid) const;
  [[nodiscard]] const engine::Engine& fold() const noexcept { return fold_; }
  [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return durable_.number(); }
  /// How many events of each kind became durable, by the kind's name.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& kinds() const noexcept { return kinds_; }

 private:
  using Place = std::pair<engine::ExperimentId, engine::TrialNumber>;

  void note(const engine::Event& event);
  void note(const engine::LeaseGranted& granted, engine::Lsn lsn);
  void note(const engine::ReportTaken& taken);
  void note(const engine::AttemptLost& lost);
  void note(const engine::StartDelayed& delayed);
  void note(const engine::WorkerQuarantined& quarantined);
  void note(const engine::WorkerForgotten& forgotten);
  /// No worker stands idle for longer than a rest because of programs that fail by their configurations.
  void check_rests(const engine::Event& event);
  [[nodiscard]] bool rests_because_of_programs(const engine::WorkerRecord& worker) const;
  /// Attempts in a row that ended without a report, but for those that their workers ended.
  void count_fruitless(const engine::ReportTaken& taken);
  void note(const engine::MemberExited& exited);
  void note(const engine::MemberLost& lost);
  void note(const engine::GangEnded& ended);
  /// What was put off, rests or is in trouble gets no lease, and nothing gets one lease after the other.
  void check_time(const engine::LeaseGranted& granted, engine::Instant at);
  void check_place(const engine::AttemptKey& key, engine::WorkerId worker,
                   const std::vector<engine::SlotIndex>& slots);
  /// What ends one member of it ends all: whoever is signalled from now on is signalled rightly.
  void asked_to_end(const engine::AttemptKey& key) {
    trial_told_to_end_[{key.experiment, key.trial}] = durable_;
  }
  [[nodiscard]] static std::uint64_t most_to_acknowledge(const Attempt& attempt);
  [[nodiscard]] bool has_lost_a_member(const engine::AttemptKey& key) const;
  /// How long there was a daemon, by no clock of its own, until `ago` before now.
  [[nodiscard]] engine::Duration ran_until(engine::Duration ago) const;
  void check_budget(const engine::ExperimentStopping& stopping);
  /// "" when nobody knows the worker.
  [[nodiscard]] std::string uid_of(engine::WorkerId worker) const;
  void note(const engine::AttemptAdopted& adopted, engine::Lsn lsn);
  /// The fold's state_text().
  const std::string& durable_state();
  [[nodiscard]] bool over(const engine::AttemptKey& key) const;
  /// What the attempt that its worker names so is in the log now.
  [[nodiscard]] engine::AttemptKey present(const engine::AttemptKey& origin) const;

  VirtualTime& time_;
  Witness witness_;
  std::function<void(const std::string&)> tell_;
  std::string broken_;
  engine::Engine fold_;
  engine::Lsn durable_;
  engine::Instant newest_;  // Of the events.
  engine::Lsn settled_at_;
  std::string state_;  // As of state_of_.
  engine::Lsn state_of_;
  std::uint64_t digest_ = 14695981039346656037U;
  std::map<std::string, std::uint64_t> kinds_;
  std::map<engine::AttemptKey, Attempt> attempts_;
  std::map<Place, engine::AttemptKey> current_;
  std::map<Place, std::deque<engine::Instant>> leased_lately_;
  std::map<engine::AttemptKey, engine::AttemptKey> adopted_as_;
  std::set<engine::ExperimentId> got_somewhere_;    // A trial reached a length with a finite value.
  std::map<Place, engine::Lsn> trial_told_to_end_;  // The last event that could.
  std::map<engine::ExperimentId, engine::Lsn> experiment_told_to_end_;
  std::set<std::string> idempotency_keys_;
  std::set<std::pair<engine::AttemptKey, engine::WorkerId>> members_held_and_heard_;  // The same, of gangs.
  std::set<engine::AttemptKey> held_and_known_;  // When the group that was offered last gave them up.
  engine::Duration ran_;                         // Of daemons that have ended.
  std::optional<engine::Instant> daemon_began_;  // The one that runs.
  std::uint64_t daemons_ = 0;
  /// How long there was a daemon when the experiment got its first lease, and how many there had been; then
  /// when its end was decided.
  struct BudgetTime {
    engine::Duration begin;
    std::uint64_t daemons = 0;
    std::optional<engine::Duration> end;
  };
  std::map<engine::ExperimentId, BudgetTime> budget_times_;
  std::set<engine::WorkerId> lost_workers_;
  std::set<engine::WorkerId> quarantined_;
  std::set<Place> lied_about_;  // A worker that lies reported something of it.
  struct Rest {
    engine::Instant since;  // Moved on by time without a daemon.
    engine::Instant until;
  };
  std::map<engine::WorkerId, Rest> rests_;  // Of workers on which nothing runs.
  std::map<Place, std::uint64_t> fruitless_;
  Ledger ledger_;
};

}  // namespace hpsearch::simulation
