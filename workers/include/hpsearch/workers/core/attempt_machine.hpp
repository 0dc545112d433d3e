#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/commands.hpp"
#include "hpsearch/proto/wire/wire.hpp"
#include "hpsearch/workers/core/effects.hpp"
#include "hpsearch/workers/core/printed_steps.hpp"
#include "hpsearch/workers/core/program_message.hpp"
#include "hpsearch/workers/core/report_queue.hpp"
#include "hpsearch/workers/core/spool.hpp"
#include "hpsearch/workers/core/spool_schedule.hpp"

namespace hpsearch::workers {

/// How patient the worker is with programs and with the daemon.
struct AttemptRules {
  engine::Duration grace = engine::Duration::seconds(30);  ///< From an answer to SIGTERM, and on to SIGKILL.
  /// Reports that are not acknowledged are sent again after four times as long as an acknowledgement takes,
  /// but no sooner than this; each time in a row twice as late, give or take a fifth.
  engine::Duration first_resend = engine::Duration::seconds(1);
  engine::Duration longest_resend = engine::Duration::seconds(30);
  std::size_t kept_bytes =
      std::size_t{256} * 1024 * 1024;  ///< Of unacknowledged reports; then only those that decide.
  engine::Duration spool_within = engine::Duration::seconds(1);  ///< For reports that decide nothing.
  /// Of reports in one message: well below proto::max_frame_bytes, whatever one report adds to it.
  std::size_t batch_bytes = std::size_t{64} * 1024;
  engine::Duration log_within = engine::Duration::seconds(30);  ///< For the daemon to take a log.
};

/// What is to become of the files that an attempt leaves in its working directory.
struct Keeping {
  std::uint64_t max_bytes = 0;  ///< Of all trials of its experiment on this worker.
  bool larger_is_better = false;
  std::optional<double> metric;  ///< Its best one, if it reported any.
};

/// "experiment 1 trial 2 attempt 3", for log lines.
[[nodiscard]] std::string attempt_text(const engine::AttemptKey& key);

/// What an attempt wants done, and said to the daemon. Messages may be dropped while there is no session:
/// each is either repeated by this machine or asked for again by the daemon, but for LogNotKept: nobody waits
/// for it.
struct AttemptOutput {
  std::vector<Effect> effects;
  std::vector<proto::FromWorker> messages;
};

/// One attempt, from its lease to the acknowledgement of its exit: numbers its reports and keeps them until
/// they are durable at the daemon, answers the program, and ends it when told to.
///
/// What it must not forget when its agent dies it wants written to the attempt's spool, and says nothing to
/// the daemon that is not there yet: no start of a lease, no report, no acknowledgement of a decision. What
/// the program said since the last write is in the journal, and a machine made from the spool reads it there
/// again and gives it the same numbers.
///
/// The exit report is the last one and is made only when nothing of the program is left, so whoever reads it
/// may use the slots again; or when something of it survives SIGKILL, which it then says. A program that
/// reports by its socket is asked before it is forced; a kill, a fence or the end of someone's patience
/// forces it.
///
/// Owns:    values only; no process, file, socket or clock.
/// Threads: none of its own; callers take turns.
/// Cost:    O(log names) per report; memory is bounded by AttemptRules::kept_bytes while the daemon is
/// silent.
class AttemptMachine {
 public:
  AttemptMachine(jobs::LaunchSpec spec, AttemptRules rules);
  /// As an earlier agent left it; then attach().
  AttemptMachine(SpooledAttempt found, AttemptRules rules);

  [[nodiscard]] const engine::AttemptKey& key() const noexcept { return spec_.key; }
  [[nodiscard]] const jobs::LaunchSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] engine::HeldAttempt held() const;
  /// How long its slots have been in its use, or were until it exited; 0 = not known, or not begun.
  [[nodiscard]] engine::Duration held_for(engine::Instant now) const noexcept;

  /// It waits for slots that another attempt still holds.
  [[nodiscard]] bool waits() const noexcept { return phase_ == Phase::waiting; }
  /// Its slots are in use: a program of it runs or may be starting.
  [[nodiscard]] bool alive() const noexcept { return phase_ == Phase::starting || phase_ == Phase::running; }
  /// Nothing is left to do, say or keep; DeleteAttempt was asked for.
  [[nodiscard]] bool finished() const noexcept { return finished_; }
  /// Nothing of it is running or being published any more.
  [[nodiscard]] bool exited() const noexcept { return phase_ == Phase::exited; }
  /// SIGKILL was sent; that its program is gone was not heard.
  [[nodiscard]] bool was_killed() const noexcept { return alive() && forcing_ == Forcing::killed; }
  /// All it has to report is on the disk, and may be told.
  [[nodiscard]] bool all_written() const noexcept { return spool_.on_disk().reports >= reports_.last(); }
  /// It is over, and something of its program survives SIGKILL in its slots.
  [[nodiscard]] bool leaves_leaked_processes() const noexcept { return leaked_processes_; }
  /// And that is written down: the daemon may count on hearing it until they are gone, also from the next
  /// agent.
  [[nodiscard]] bool reports_leaked_processes() const noexcept {
    return leaked_processes_ && spool_.on_disk().leaked_processes;
  }
  /// The daemon has disowned it: it is ended, and reports nothing.
  [[nodiscard]] bool is_fenced() const noexcept { return fenced_; }
  /// Its program runs: the highest step it reported, and since when it says nothing.
  [[nodiscard]] bool runs() const noexcept { return phase_ == Phase::running; }
  [[nodiscard]] engine::Units last_step() const noexcept { return last_step_.value_or(engine::Units{}); }
  [[nodiscard]] engine::Instant silent_since() const noexcept { return silent_since_; }
  /// Reports that the daemon has not acknowledged.
  [[nodiscard]] std::uint64_t unacknowledged() const noexcept { return reports_.last() - reports_.acked(); }
  /// What is to become of the files it leaves.
  [[nodiscard]] Keeping keeping() const noexcept {
    const bool in_place = spec_.contract.in_place;  // They are where they stay.
    return {in_place ? 0 : spec_.keep_files_mb * 1'000'000, spec_.larger_is_better, best_metric_};
  }
  /// The daemon hears its reports and cannot take them now: what is not acknowledged is sent again then.
  void asked_to_wait(engine::Instant until) noexcept { reports_.wait_until(until); }
  /// How often reports were sent again without any acknowledgement in between.
  [[nodiscard]] unsigned unanswered_resends() const noexcept { return reports_.unanswered_resends(); }
  [[nodiscard]] std::optional<engine::Instant> next_wake() const noexcept;

  // --- its program ---
  void start();
  void attach(AttemptOutput& out);
  void refuse(const std::string& why, AttemptOutput& out);  ///< It waits, and cannot run here at all.
  void started(engine::Instant now, AttemptOutput& out);
  void not_started(const std::string& why, engine::ExitReport::Cause cause, int status, AttemptOutput& out);
  void said(const ProgramMessageReceived& said, engine::Instant now, AttemptOutput& out);
  void published(const engine::CheckpointReport& report, engine::Instant now, AttemptOutput& out);
  void not_published(bool was_empty, const std::string& why, engine::Instant now, AttemptOutput& out);
  void ended(const ProgramEnded& end, AttemptOutput& out);
  /// `end` is how its program ended, when that is known.
  void stuck(const std::string& why, AttemptOutput& out,
             const std::optional<ProgramEnded>& end = std::nullopt);
  /// A device it has is broken: it is ended, and that is no failure of its own. Once it has ended, too late.
  void node_failed(const std::string& why, AttemptOutput& out);
  void lost(const std::string& why, AttemptOutput& out);

  // --- its spool ---
  /// Wants written what changed, when it is due and no write is under way.
  void spool(engine::Instant now, AttemptOutput& out);
  void spool_written(std::uint64_t write, engine::Instant now, AttemptOutput& out);
  void spool_not_written(std::uint64_t write, const std::string& why, engine::Instant now,
                         AttemptOutput& out);

  // --- the daemon ---
  void lease_again(AttemptOutput& out);
  void decided(const engine::Decision& decision, engine::Instant now, AttemptOutput& out);
  void fenced(AttemptOutput& out);
  void hold() noexcept;
  void go_on(std::uint64_t upto, AttemptOutput& out);
  void acknowledged(std::uint64_t upto, AttemptOutput& out);
  /// In answer to what was sent: it is also learnt how long answers take.
  void answered(std::uint64_t upto, engine::Instant now, AttemptOutput& out);
  void resend_from(std::uint64_t expect, engine::Instant now) noexcept { reports_.resend_from(expect, now); }
  void session_lost() noexcept;
  /// Says every spooled report that was not said in this session yet, while no more than `window` bytes of
  /// them (or one that is larger) and less than 64 batches are unacknowledged.
  void send(engine::Instant now, std::size_t window, AttemptOutput& out);

  // --- its log ---
  // The daemon keeps the beginning and the end of its output. That is sent when the exit report is made,
  // beside it: slots are free by then, and no device waits for a log.
  [[nodiscard]] bool log_waits() const noexcept { return log_ == Log::waits; }
  [[nodiscard]] bool log_under_way() const noexcept { return log_ == Log::under_way; }
  [[nodiscard]] bool log_pending() const noexcept { return log_waits() || log_under_way(); }
  /// All the daemon had to hear was heard: only its log keeps it here.
  [[nodiscard]] bool only_log_left() const noexcept {
    return phase_ == Phase::exited && log_pending() && reports_.empty() && !leaked_processes_;
  }
  void hand_over_log(engine::Instant now, AttemptOutput& out);
  void log_handed_over(std::uint64_t delivery, const std::string& problem, AttemptOutput& out);
  /// The daemon is told that it does not get it, and why.
  void give_up_log(const std::string& why, AttemptOutput& out);

  // --- the worker ---
  /// It has done what it was asked for, and waits to hear what comes next or would hear a checkpoint signal.
  /// Who only prints is asked by neither: it ends by itself, or would lose what it trained.
  [[nodiscard]] bool waits_at_length() const;
  /// No daemon is there to decide: it is asked to leave a checkpoint and end, as Directive::pause asks it.
  void pause_alone(engine::Instant now, AttemptOutput& out);
  void end_now(engine::Instant now, AttemptOutput& out);  ///< SIGTERM, grace, SIGKILL.
  void kill_now(AttemptOutput& out);
  void check_timers(engine::Instant now, AttemptOutput& out);

 private:
  enum class Phase : std::uint8_t {
    waiting,    ///< For slots.
    preparing,  ///< Its lease is being spooled.
    starting,   ///< StartProgram or AttachProgram was asked for.
    running,
    ended,   ///< The program is gone; a checkpoint of it is still being published.
    exited,  ///< The exit report is made.
  };
  enum class Speaks : std::uint8_t { unknown, lines, socket };
  enum class Forcing : std::uint8_t { none, asked, terminated, killed };
  enum class Log : std::uint8_t { none, waits, under_way, over };

  void take(const MetricsMessage& said, std::optional<QuestionId> question, engine::Instant now,
            AttemptOutput& out);
  void take(const CheckpointMessage& said, std::optional<QuestionId> question, engine::Instant now,
            AttemptOutput& out);
  void take(const RemarkMessage& said, std::optional<QuestionId> question, engine::Instant now,
            AttemptOutput& out);
  void take(const InvalidHparamsMessage& said, std::optional<QuestionId> question, engine::Instant now,
            AttemptOutput& out);
  void take(const UnreadMessage& said, std::optional<QuestionId> question, engine::Instant now,
            AttemptOutput& out);
  void take(const MisunderstoodMessage& said, std::optional<QuestionId> question, engine::Instant now,
            AttemptOutput& out);
  void take(const LookalikeMessage& said, std::optional<QuestionId> question, engine::Instant now,
            AttemptOutput& out);
  void take(const DoubtfulMessage& said, std::optional<QuestionId> question, engine::Instant now,
            AttemptOutput& out);
  void take(const UnreadableMessage& said, std::optional<QuestionId> question, engine::Instant now,
            AttemptOutput& out);

  /// What its author should know of the way it reports: in the log, and to whoever asks the daemon.
  enum class Flaw : std::uint8_t {
    backward,
    sparse,
    missing,
    unreadable,
    no_number,
    misunderstood,
    lookalike,
    not_finite,
    standing,
    late,
    unread,
    ended,
    other_metric,
    each_batch
  };
  static constexpr std::size_t flaws = static_cast<std::size_t>(Flaw::each_batch) + 1;
  void note(Flaw flaw, const std::string& text, AttemptOutput& out);
  void judge_step(const engine::MetricsReport& report, AttemptOutput& out);
  void judge_passing(const engine::MetricsReport& report, AttemptOutput& out);
  void judge_absence(const engine::MetricsReport& report, AttemptOutput& out);
  void judge_value(const engine::MetricsReport& report, AttemptOutput& out);
  void judge_progress(const engine::MetricsReport& report, bool asks, engine::Instant now,
                      AttemptOutput& out);
  void judge_buffering(AttemptOutput& out);

  void answer(QuestionId question, engine::Instant now, AttemptOutput& out);
  void answer_ahead(AttemptOutput& out);
  void obey_stored(engine::Instant now, AttemptOutput& out);
  void answer_error(QuestionId question, const std::string& what, AttemptOutput& out) const;
  void publish_next(AttemptOutput& out);
  void report_checkpoints(engine::Instant now, AttemptOutput& out);
  void checkpoint_settled(engine::Instant now, AttemptOutput& out);
  void ask_to_end(engine::Instant now, AttemptOutput& out);
  [[nodiscard]] bool trains_on() const noexcept;
  [[nodiscard]] bool may_finish() const noexcept;
  [[nodiscard]] bool is_wanted_at_its_end() const noexcept;
  [[nodiscard]] engine::Duration patience() const noexcept;
  void end_if_it_trains_on(bool asks, engine::Instant now, AttemptOutput& out);
  void note_its_end(AttemptOutput& out);
  void expect_end_within(engine::Duration patience, engine::Instant now) noexcept;
  [[nodiscard]] bool may_force() const noexcept;
  void terminate(engine::Instant now, AttemptOutput& out);
  [[nodiscard]] std::optional<engine::Instant> progress_due() const noexcept;
  void look_for_progress(engine::Instant now, AttemptOutput& out);
  void over(const ProgramEnded& end, AttemptOutput& out);
  void stay_with_leaked_processes() noexcept;
  void no_more_leaked_processes(AttemptOutput& out);
  [[nodiscard]] bool takes_checkpoint_signal() const;
  /// Of an attempt on several workers only the first part reports; the others tell of their end.
  [[nodiscard]] bool reports_for_attempt() const noexcept { return spec_.rendezvous.rank == 0; }
  void ask_by_signal(engine::Instant now, AttemptOutput& out);
  void never_ran(engine::ExitReport::Cause cause, const std::string& message, AttemptOutput& out,
                 int code = 0);
  void make_exit_report();
  void keep(engine::Report report, bool decisive);
  [[nodiscard]] SpooledState state_to_spool() const;
  [[nodiscard]] bool may_spool() const noexcept;
  void finish(bool keep_logs, AttemptOutput& out);
  void take_log_back() noexcept;
  void log_over(AttemptOutput& out);
  void notice(Notice::Level level, const std::string& text, AttemptOutput& out) const;
  void rank(const engine::MetricsReport& report);
  [[nodiscard]] bool names_metric(const engine::MetricsReport& report) const;
  [[nodiscard]] bool stands_without_metric(const engine::MetricsReport& report);
  [[nodiscard]] bool decides(const engine::MetricsReport& report) const;
  void after_acknowledgement(AttemptOutput& out);

  jobs::LaunchSpec spec_;
  AttemptRules rules_;
  Phase phase_ = Phase::waiting;
  Speaks speaks_ = Speaks::unknown;
  bool had_exited_ = false;  ///< When it was fenced: how it ended may be on record.
  bool fenced_ = false;
  bool finished_ = false;
  bool was_started_ = false;
  bool never_ran_ = false;  ///< Nothing of it needs to outlive this agent.
  bool found_ = false;      ///< An earlier agent has started it.

  // What it was told.
  engine::Lsn last_decision_;
  engine::Units length_{};                   ///< Where it must ask next.
  std::optional<engine::Directive> end_as_;  ///< pause or stop, for the program to hear.
  bool finishes_ = false;                    ///< Decision::may_finish of that.
  bool kill_decided_ = false;
  std::optional<engine::Units> answered_ahead_;  ///< What AnswerAhead said last.
  std::vector<QuestionId> asking_;               ///< Reported at the length; wait for the decision.

  // How it is being ended.
  Forcing forcing_ = Forcing::none;
  std::optional<engine::Instant> force_at_;  ///< When the next rung of the ladder is due.
  bool told_ = false;                        ///< The program heard end_as_.
  bool waited_for_checkpoint_ = false;       ///< Its patience was renewed once, after a checkpoint.
  bool signaled_by_us_ = false;
  bool paused_alone_ = false;      ///< It was told to pause while no daemon was there.
  bool no_progress_ = false;       ///< It is ended for saying nothing.
  std::string stands_;             ///< It is ended because its steps do not grow: the sentence, or "".
  bool ended_here_ = false;        ///< Its worker ends it, of its own accord.
  bool leaked_processes_ = false;  ///< It is over, and something of it is not.
  std::string stuck_because_;
  std::string node_failure_;  ///< Why the machine is to blame for its end, or "".

  // Its slots are in its use since then, and until then; the epoch: not yet.
  engine::Instant held_since_;
  engine::Instant held_until_;

  // What it reported.
  engine::Instant silent_since_;  ///< Since it said anything, or we let it wait.
  std::optional<engine::Units> last_step_;
  std::optional<engine::MetricsReport> asked_with_;  ///< What asking_ was begun with; none after a takeover.
  std::optional<engine::Units> length_reported_;     ///< Step of the first report that reached its length.
  std::optional<engine::Units> asked_at_;  ///< The last length about which a report was kept to ask.
  bool reported_checkpoint_ = false;
  std::optional<WantedCheckpoint> publishing_;
  std::deque<WantedCheckpoint> to_publish_;
  std::optional<ProgramEnded> end_;
  bool reported_invalid_ = false;
  std::optional<std::string> lost_because_;
  std::string lost_checkpoint_;  ///< Why the one left at the end could not be published.
  /// Of each metric: what a program prints to its two outputs comes in two orders.
  std::map<std::string, engine::Units, std::less<>> last_steps_;
  std::optional<double> best_metric_;               ///< Of the searcher, as far as this agent heard.
  std::optional<engine::Units> last_measured_;      ///< Step of the last report with the searcher's metric.
  std::optional<engine::Units> at_length_without_;  ///< Step of a report at the length that lacked it.
  std::optional<engine::Units> without_at_;         ///< At this step, without the searcher's metric, …
  std::map<std::string, std::uint64_t, std::less<>> without_;  ///< … these were reported so often …
  std::uint64_t usual_repeats_ = 1;                            ///< … and at earlier steps the most of them.
  std::optional<engine::Units> first_without_;  ///< Step of the first report of all that lacked it.
  bool measured_finite_ = false;
  std::uint64_t standing_ = 0;                ///< Reports of its metric in a row …
  std::optional<engine::Units> standing_at_;  ///< … at this step.
  std::array<bool, flaws> noted_{};           ///< By Flaw.
  PrintedSteps printed_;                      ///< None after a takeover: when they came is not known.
  bool noticed_thinning_ = false;

  // What of it is on the worker's disk.
  std::uint64_t position_ = 0;  ///< Of the journal; what the program said before it is dealt with.
  SpoolSchedule spool_;
  /// Who asked for a checkpoint hears that it is safe when the report of it is written down, by its number:
  /// who trains on before may write over what an agent after this one would take for it.
  std::vector<std::pair<std::uint64_t, QuestionId>> unsaid_checkpoints_;
  std::vector<engine::Lsn> unacked_decisions_;  ///< To be acknowledged when they are.

  // What is kept of its output.
  Log log_ = Log::none;
  std::uint64_t delivery_ = 0;              ///< The last one that was begun.
  std::optional<engine::Instant> log_due_;  ///< Then it is given up.

  // What the daemon is to hear.
  ReportQueue reports_;
  bool on_hold_ = false;  ///< The daemon does not want to hear of it (now).
};

}  // namespace hpsearch::workers
