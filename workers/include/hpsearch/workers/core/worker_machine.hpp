#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/workers/core/attempt_machine.hpp"
#include "hpsearch/workers/core/backoff.hpp"
#include "hpsearch/workers/core/effects.hpp"
#include "hpsearch/workers/core/worker_status.hpp"

namespace hpsearch::workers {

/// The identity of a worker.
struct WorkerIdentity {
  std::string uid;
  std::string name;
  std::uint64_t incarnation = 0;
  std::string boot_id;
  std::uint64_t pid = 0;  ///< The agent's pid.
  std::uint64_t slots = 1;
  std::string slot_kind;                      ///< As in a jobs::DeviceKind.
  std::string kills_by{};                     ///< "cgroup" or "process table"
  std::vector<engine::SlotDevice> devices{};  ///< One per slot, or none.
  std::string pool{};                         ///< "" = the default one.
  std::map<std::string, std::string> labels{};
  std::vector<UnusableSlot> unusable{};  ///< Found at the start; DevicesJudged brings changes.
  std::string address{};                 ///< The address at which other workers reach this one.
  std::uint64_t nonce =
      0;  ///< Random, for this start: copies of an agent in containers may have the same pid.
  std::optional<std::uint64_t>
      max_unslotted{};                 ///< The maximum number of attempts without slots; nothing = no limit.
  std::string host{};                  ///< The name of its machine.
  std::string version{};               ///< The version of its program.
  std::string allocation{};            ///< The allocation of this worker, as "gpu/17"; "" = none.
  std::optional<SlotsTaken> shared{};  ///< Its slots are shared: those that others have at the start.
};

struct WorkerRules {
  AttemptRules attempt;
  engine::Duration first_retry = engine::Duration::millis(100);
  engine::Duration longest_retry = engine::Duration::seconds(5);
  engine::Duration welcome_within =
      engine::Duration::seconds(5);  ///< After this time the HELLO counts as lost.
  engine::Duration goodbye =
      engine::Duration::seconds(5);  ///< How long an ending worker waits for the last acknowledgements.
  engine::Duration longest_goodbye =
      engine::Duration::seconds(60);  ///< The same while exits are not on disk.
  engine::Duration first_probe =
      engine::Duration::seconds(5);  ///< After a failed write. Each further failure …
  engine::Duration longest_probe =
      engine::Duration::seconds(300);  ///< … soon afterwards doubles the wait up to this.
  engine::Duration check_checkpoints_after = engine::Duration::seconds(
      30);  ///< The directory is checked again after this time while nothing can be stored there.
  engine::Duration
      orphans_end_after{};  ///< Programs are ended after this time without a session; 0 = they continue.
  engine::Duration orphans_pause_after{};  ///< Only programs that wait at their length are ended, resumable;
                                           ///< 0 = they keep waiting.
  engine::Duration ends_when_idle_for{};   ///< Without an attempt, in a session; 0 = it waits for one.
  engine::Duration ends_when_alone_for{};  ///< Without a session; 0 = it keeps trying.
  engine::Duration time_limit{};           ///< The time from its start to its end; 0 = it has no known end.
  engine::Duration give_back =
      engine::Duration::seconds(180);  ///< It ends its programs so long before its end.
  bool asks_time_left = false;         ///< The other scheduler knows the end better, and may change it.
};

/// The worker as values: inputs go in, effects come out. It maintains the session with the daemon, runs one
/// AttemptMachine per lease, and shuts down in order.
///
/// The loss of the daemon changes nothing for programs: they continue, their reports are kept, and the
/// machine tries to get a session. Programs are ended only by a decision, a fence or because this worker is
/// asked to stop, or, if its operator configures that, because no daemon returned in time (orphans_end_after,
/// and for those that wait for a decision, orphans_pause_after); never because of missing knowledge.
///
/// While it holds attempts it accepts messages only from the store that leased them, and from no earlier
/// start of the daemon than the latest known one; this knowledge outlives the agent. A refusal doesn't end it
/// then: it may come from the wrong daemon, and the right one may return.
///
/// A disk that rejects the worker's files is no failure of programs: no lease is accepted until a probe
/// succeeds, and all slots are reported as unusable.
///
/// Owns:    values only; no process, file, socket or clock.
/// Threads: callers take turns.
/// Chance:  only in waits, from the given Draw.
class WorkerMachine {
 public:
  enum class State : std::uint8_t {
    hello,     ///< Without a session: it sends HELLO.
    ready,     ///< In a session.
    draining,  ///< Asked to stop: it accepts nothing new and ends its programs.
    over,      ///< EndAgent was returned.
  };

  WorkerMachine(WorkerIdentity identity, WorkerRules rules, engine::Draw draw);

  /// The first effects; call it once, before the first step. `found`: the attempts in the spools of this
  /// worker's earlier run, which continue. `known` is from the last RememberDaemon.
  [[nodiscard]] std::vector<Effect> start(engine::Instant now, std::vector<SpooledAttempt> found = {},
                                          KnownDaemon known = {});

  /// `now` never decreases.
  [[nodiscard]] std::vector<Effect> step(const Input& input, engine::Instant now);

  /// When step(TimePassed) must be called next, if nothing else happens before.
  [[nodiscard]] std::optional<engine::Instant> next_wake() const noexcept;

  [[nodiscard]] State state() const noexcept;
  /// O(attempts).
  [[nodiscard]] WorkerStatus status() const;

  /// The store it belongs to; 0 = none yet.
  [[nodiscard]] std::uint64_t store() const noexcept { return known_.cluster; }
  /// The rule for keeping files of an attempt that is held here.
  [[nodiscard]] std::optional<Keeping> keeping(const engine::AttemptKey& key);

 private:
  enum class Session : std::uint8_t { hello, ready, refused };

  void on_event(const FrameReceived& received, engine::Instant now);
  void on_event(const SendRefused& refused, engine::Instant now);
  void on_event(const ConnectionMade& made, engine::Instant now);
  void on_event(const ProgramStarted& started, engine::Instant now);
  void on_event(const ProgramNotStarted& not_started, engine::Instant now);
  void on_event(const ProgramMessageReceived& said, engine::Instant now);
  void on_event(const CheckpointPublished& published, engine::Instant now);
  void on_event(const CheckpointNotPublished& not_published, engine::Instant now);
  void on_event(const ProgramEnded& ended, engine::Instant now);
  void on_event(const ProgramStuck& stuck, engine::Instant now);
  void on_event(const ProgramLost& lost, engine::Instant now);
  void on_event(const SpoolWritten& written, engine::Instant now);
  void on_event(const SpoolNotWritten& not_written, engine::Instant now);
  void on_event(const JournalNotWritten& not_written, engine::Instant now);
  void on_event(const LogWasRead& read, engine::Instant now);
  void on_event(const LogHandedOver& handed, engine::Instant now);
  void on_event(const SendingFiles& sending, engine::Instant now);
  void on_event(const StopAsked& asked, engine::Instant now);
  void on_event(const GiveBackAsked& asked, engine::Instant now);
  void on_event(const TimeLeftLearned& learned, engine::Instant now);
  void on_event(const LeaveAsked& asked, engine::Instant now);
  void on_event(const TimePassed& passed, engine::Instant now);
  void on_event(const DevicesJudged& judged, engine::Instant now);
  void on_event(const SlotsTaken& taken, engine::Instant now);
  void on_event(const DiskProbed& probed, engine::Instant now);
  void on_event(const AttemptsMeasured& measured, engine::Instant now);
  void on_event(const CheckpointRootChecked& checked, engine::Instant now);

  void on_message(const proto::Welcome& welcome, const proto::Envelope& envelope, engine::Instant now);
  void take_credit(std::uint64_t granted) noexcept;
  void on_message(const proto::Lease& lease, engine::Instant now);
  void on_message(const proto::Ack& ack, engine::Instant now);
  void on_message(const proto::Nack& nack, engine::Instant now);
  void on_message(const proto::Decide& decide, engine::Instant now);
  void on_message(const proto::Fenced& fenced, engine::Instant now);
  void on_message(const proto::Hold& hold, engine::Instant now);
  void on_message(const proto::Resync& resync, engine::Instant now);
  void on_message(const proto::ReadLog& request, engine::Instant now);
  void on_message(const proto::Wanted& wanted, engine::Instant now);
  void on_message(const proto::RetryAfter& retry, const proto::Envelope& envelope, engine::Instant now);
  void on_message(const proto::Refused& refused, const proto::Envelope& envelope, engine::Instant now);

  [[nodiscard]] bool stale(const proto::Envelope& envelope) const noexcept;
  void notice_stale(const proto::Envelope& envelope);
  [[nodiscard]] bool listens_to(const proto::Envelope& envelope, engine::Instant now);
  void say_hello_later(engine::Instant now);
  void lose_session(engine::Instant now);
  void leave_session(engine::Instant now);
  void send_hello(engine::Instant now);
  void send(proto::FromWorker message);
  void send_beat(engine::Instant now);
  void carry_out(AttemptOutput out);
  void settle(engine::Instant now);
  void hand_over_logs(engine::Instant now, AttemptOutput& out);
  void start_waiting_attempts(engine::Instant now);
  [[nodiscard]] bool must_wait(const AttemptMachine& attempt) const;
  /// Why programs in these slots can't be trusted, or "".
  [[nodiscard]] std::string problem_of(const jobs::LaunchSpec& spec, bool broken_only) const;
  [[nodiscard]] std::vector<engine::SlotTrouble> troubles() const;
  [[nodiscard]] std::optional<proto::SharedSlots> shared_slots() const;
  void end_on_broken_slots(AttemptOutput& out);
  void suspect_disk(const std::string& why, engine::Instant now,
                    const std::optional<engine::AttemptKey>& of = std::nullopt);
  void disk_fails(const std::string& why, engine::Instant now);
  [[nodiscard]] std::string missing_slot(const jobs::LaunchSpec& spec) const;
  void end_when_done(engine::Instant now);
  /// Nothing to do for longer than its rules allow.
  void end_when_useless(engine::Instant now);
  [[nodiscard]] std::optional<engine::Instant> useless_at() const noexcept;
  /// Its programs have until `until` to save what they have and end.
  void give_back(const std::string& why, engine::Instant until, engine::Instant now);
  void watch_its_end(engine::Instant now);
  [[nodiscard]] std::optional<engine::Instant> gives_back_at() const noexcept;
  [[nodiscard]] std::optional<engine::TimeLeft> time_left(engine::Instant now) const noexcept;
  [[nodiscard]] engine::Instant end_of_grace(engine::Instant now) const noexcept;
  void drop_unknown_attempts(engine::Instant now);
  void end_orphans(engine::Instant now);
  [[nodiscard]] std::optional<engine::Instant> orphans_due() const noexcept;
  /// When programs that wait at their lengths are paused; nothing while a daemon is connected, or if they
  /// keep waiting.
  [[nodiscard]] std::optional<engine::Instant> pauses_due() const noexcept;
  void notice(Notice::Level level, std::string text);
  /// By the lease under which it was started, or its current one.
  [[nodiscard]] AttemptMachine* find(const engine::AttemptKey& key);
  /// The key by which the daemon knows it in this session.
  [[nodiscard]] engine::AttemptKey current_key(engine::AttemptKey key) const;

  WorkerIdentity identity_;
  WorkerRules rules_;
  Backoff backoff_;
  std::vector<Effect> effects_;  ///< The effects of the current step.

  Session session_ = Session::hello;
  KnownDaemon known_;
  bool names_known_ = false;  ///< HELLO names the known daemon, except for a new agent.
  std::uint64_t session_epoch_ = 0;
  std::uint64_t msg_no_ = 0;
  std::uint64_t hellos_ = 0;  ///< Number of the last one; higher than all of earlier agents.
  std::uint64_t void_hellos_ =
      0;  ///< Up to this number they belong to earlier agents, to ended sessions or to the current one.
  bool hello_sent_ = false;                  ///< On this connection, which accepted it.
  std::optional<engine::Instant> hello_at_;  ///< When to send HELLO (again).
  engine::Instant ready_since_;
  engine::Instant alone_since_;  ///< Since when there is no session.
  bool orphans_ended_ = false;
  engine::Duration beat_every_ = engine::Duration::seconds(10);
  std::optional<engine::Instant> beat_at_;
  std::string refused_because_;
  bool noticed_foreign_ = false;
  bool noticed_stale_ = false;
  std::size_t credit_ =
      0;  ///< The maximum of unacknowledged bytes; each attempt may have one batch in any case.

  struct Suspicion {
    std::string why;
    std::optional<engine::AttemptKey> of;  ///< The attempt whose files could not be written.
  };
  std::optional<Suspicion> disk_suspicion_;        ///< A probe is in progress.
  std::optional<engine::Instant> disk_proved_at_;  ///< A probe succeeded although files could not be written.
  std::string disk_trouble_;                       ///< Why nothing can be written here, or "".
  engine::Duration probe_wait_;
  std::optional<engine::Instant> probe_at_;
  std::optional<engine::Instant> disk_well_since_;

  std::string checkpoint_root_;     ///< From the daemon's last message.
  std::string checkpoint_problem_;  ///< Why nothing can be stored there, or "".
  std::optional<engine::Instant> check_checkpoints_at_;

  std::map<engine::AttemptKey, AttemptMachine> attempts_;
  std::map<engine::AttemptKey, engine::LeaseId> adopted_;  ///< Attempts that got another lease → that lease.
  std::map<engine::AttemptKey, proto::Utilization> measured_;  ///< For the next beat.
  std::set<engine::AttemptKey> done_;  ///< Finished a short time ago: their leases may still arrive.

  std::optional<engine::Instant> ends_at_;        ///< Nothing: no end is known.
  std::optional<engine::Instant> ask_left_at_;    ///< When to ask the other scheduler again.
  std::optional<engine::Instant> given_back_by_;  ///< Its programs are asked to end by then.
  std::optional<engine::Instant> idle_since_;     ///< In a session, without an attempt.
  bool draining_ = false;
  std::string draining_because_ = "asked to stop";
  bool over_ = false;
  engine::Instant stop_asked_at_;
  bool exits_written_ = false;  ///< Every exit is on disk.
  bool sends_files_ = false;
  std::optional<engine::Instant>
      leave_at_;  ///< While ending: programs have exited, and acknowledgements may still come.
  std::optional<engine::Instant>
      abandon_at_;  ///< While ending: programs are killed, and their ends aren't written.
};

}  // namespace hpsearch::workers
