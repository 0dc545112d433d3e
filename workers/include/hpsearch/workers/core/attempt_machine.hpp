#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/commands.hpp"
#include "hpsearch/proto/wire/wire.hpp"
#include "hpsearch/workers/core/attempt_end.hpp"
#include "hpsearch/workers/core/checkpoint_queue.hpp"
#include "hpsearch/workers/core/dialogue.hpp"
#include "hpsearch/workers/core/effects.hpp"
#include "hpsearch/workers/core/end_ladder.hpp"
#include "hpsearch/workers/core/log_handover.hpp"
#include "hpsearch/workers/core/program_message.hpp"
#include "hpsearch/workers/core/report_queue.hpp"
#include "hpsearch/workers/core/report_review.hpp"
#include "hpsearch/workers/core/spool.hpp"
#include "hpsearch/workers/core/spool_schedule.hpp"

namespace hpsearch::workers {

/// The timeouts of the worker for programs and for the daemon.
struct AttemptRules {
  engine::Duration grace = engine::Duration::seconds(30);  ///< From an answer to SIGTERM, and on to SIGKILL.
  /// Unacknowledged reports are sent again after four times the usual time of an acknowledgement,
  /// but at least this; each further repetition waits twice as long, plus or minus a fifth.
  engine::Duration first_resend = engine::Duration::seconds(1);
  engine::Duration longest_resend = engine::Duration::seconds(30);
  std::size_t kept_bytes =
      std::size_t{256} * 1024 *
      1024;  ///< Limit of unacknowledged reports; beyond it only reports that decide are kept.
  engine::Duration spool_within = engine::Duration::seconds(1);  ///< For reports that decide nothing.
  /// Reports in one message: well below proto::max_frame_bytes, whatever one report adds to it.
  std::size_t batch_bytes = std::size_t{64} * 1024;
  engine::Duration log_within = engine::Duration::seconds(30);  ///< Time for the delivery of a log.
};

/// The time of a worker is almost over: its programs save what they have and end.
struct GiveBack {
  std::string why;
  engine::Instant terminate_at;  ///< SIGTERM to those that still run.
  engine::Instant kill_at;       ///< SIGKILL.
};

/// Which files in the working directory of an attempt are kept.
struct Keeping {
  std::uint64_t max_bytes = 0;  ///< Limit for all trials of its experiment on this worker.
  bool larger_is_better = false;
  std::optional<double> metric;  ///< The best one, if the attempt reported any.
};

/// "experiment 1 trial 2 attempt 3", for log lines.
[[nodiscard]] std::string attempt_text(const engine::AttemptKey& key);

/// The effects and the messages to the daemon of an attempt. Messages may be dropped while there is no
/// session: each is either repeated by this machine or requested again by the daemon, except LogNotKept,
/// for which nothing waits.
struct AttemptOutput {
  std::vector<Effect> effects;
  std::vector<proto::FromWorker> messages;
};

/// One attempt, from its lease to the acknowledgement of its exit: numbers its reports and keeps them until
/// they are durable at the daemon, answers the program, and ends it if that is decided.
///
/// State that must survive the agent is written to the attempt's spool before the daemon gets it: the start
/// of a lease, a report, the acknowledgement of a decision. Messages of the program since the last write are
/// in the journal, and a machine made from the spool reads them there again and gives them the same numbers.
///
/// The exit report is the last one and is made only when all processes of the program have exited, so that
/// the slots can be used again; or when some survive SIGKILL, which it then reports. A program that reports
/// by its socket is asked to end before it is forced; a kill, a fence or a timeout forces it at once.
///
/// Owns:    values only; no process, file, socket or clock.
/// Threads: none of its own; callers take turns.
/// Cost:    O(log names) per report; memory is bounded by AttemptRules::kept_bytes while the daemon is
/// silent.
class AttemptMachine {
 public:
  AttemptMachine(jobs::LaunchSpec spec, AttemptRules rules);
  /// Continues an attempt of an earlier agent; attach() must follow.
  AttemptMachine(SpooledAttempt found, AttemptRules rules);

  [[nodiscard]] const engine::AttemptKey& key() const noexcept { return spec_.key; }
  [[nodiscard]] const jobs::LaunchSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] engine::HeldAttempt held() const;
  /// How long it has held its slots, until its exit; 0 = unknown, or not begun.
  [[nodiscard]] engine::Duration held_for(engine::Instant now) const noexcept;

  /// It waits for slots that another attempt still holds.
  [[nodiscard]] bool waits() const noexcept { return phase_ == Phase::waiting; }
  /// Its slots are in use: its program runs or may be starting.
  [[nodiscard]] bool alive() const noexcept { return phase_ == Phase::starting || phase_ == Phase::running; }
  /// Nothing is left to do; DeleteAttempt was requested.
  [[nodiscard]] bool finished() const noexcept { return finished_; }
  /// None of its processes runs, and no checkpoint is being published.
  [[nodiscard]] bool exited() const noexcept { return phase_ == Phase::exited; }
  /// SIGKILL was sent, and the end of its program is not known yet.
  [[nodiscard]] bool was_killed() const noexcept { return alive() && ladder_.rung() == Rung::killed; }
  /// All its reports are on disk, and may be sent.
  [[nodiscard]] bool all_written() const noexcept { return spool_.on_disk().reports >= reports_.last(); }
  /// It is over, and some of its processes survive SIGKILL in its slots.
  [[nodiscard]] bool leaves_leaked_processes() const noexcept { return end_.leaked_processes; }
  /// The same, and it is on disk: this agent or the next one reports it until they have exited.
  [[nodiscard]] bool reports_leaked_processes() const noexcept {
    return end_.leaked_processes && spool_.on_disk().leaked_processes;
  }
  /// The daemon has disowned it: it is being ended, and sends no reports.
  [[nodiscard]] bool is_fenced() const noexcept { return fenced_; }
  /// Whether its program runs.
  [[nodiscard]] bool runs() const noexcept { return phase_ == Phase::running; }
  [[nodiscard]] engine::Units last_step() const noexcept { return last_step_.value_or(engine::Units{}); }
  [[nodiscard]] engine::Instant silent_since() const noexcept { return silent_since_; }
  /// Reports that the daemon has not acknowledged.
  [[nodiscard]] std::uint64_t unacknowledged() const noexcept { return reports_.last() - reports_.acked(); }
  /// Whether the files it leaves are kept.
  [[nodiscard]] Keeping keeping() const noexcept {
    const bool in_place = spec_.contract.in_place;  // Its files stay where they are.
    return {in_place ? 0 : spec_.keep_files_mb * 1'000'000, spec_.larger_is_better, best_metric_};
  }
  /// The daemon can't store its reports now: unacknowledged ones are sent again at `until`.
  void asked_to_wait(engine::Instant until) noexcept { reports_.wait_until(until); }
  /// How often reports were sent again without an acknowledgement between.
  [[nodiscard]] unsigned unanswered_resends() const noexcept { return reports_.unanswered_resends(); }
  [[nodiscard]] std::optional<engine::Instant> next_wake() const noexcept;

  // --- its program ---
  void start();
  void attach(AttemptOutput& out);
  void refuse(const std::string& why, AttemptOutput& out);  ///< It waits, and can't run here.
  void started(engine::Instant now, AttemptOutput& out);
  void not_started(const std::string& why, engine::ExitReport::Cause cause, int status, AttemptOutput& out);
  void said(const ProgramMessageReceived& said, engine::Instant now, AttemptOutput& out);
  void published(const engine::CheckpointReport& report, engine::Instant now, AttemptOutput& out);
  void not_published(bool was_empty, const std::string& why, engine::Instant now, AttemptOutput& out);
  void ended(const ProgramEnded& end, AttemptOutput& out);
  /// `end`: how its program ended, if that is known.
  void stuck(const std::string& why, AttemptOutput& out,
             const std::optional<ProgramEnded>& end = std::nullopt);
  /// One of its devices is broken: it is ended, which is no failure of the trial. No effect after its end.
  void node_failed(const std::string& why, AttemptOutput& out);
  void lost(const std::string& why, AttemptOutput& out);

  // --- its spool ---
  /// Requests a write of changes if one is due and none is in progress.
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
  /// Acknowledges reports that were sent: this measures the time of acknowledgements.
  void answered(std::uint64_t upto, engine::Instant now, AttemptOutput& out);
  void resend_from(std::uint64_t expect, engine::Instant now) noexcept { reports_.resend_from(expect, now); }
  void session_lost() noexcept;
  /// Sends every spooled report that hasn't been sent in this session, while at most `window` bytes of
  /// them (or one that is larger) and less than 64 batches are unacknowledged.
  void send(engine::Instant now, std::size_t window, AttemptOutput& out);

  // --- its log ---
  // The daemon keeps the beginning and the end of its output. It is sent in parallel with the exit report:
  // slots are free then, so no device waits for a log.
  [[nodiscard]] bool log_waits() const noexcept { return log_.waits(); }
  [[nodiscard]] bool log_under_way() const noexcept { return log_.is_under_way(); }
  [[nodiscard]] bool log_pending() const noexcept { return log_waits() || log_under_way(); }
  /// The daemon has acknowledged all reports: only the delivery of the log is left.
  [[nodiscard]] bool only_log_left() const noexcept {
    return phase_ == Phase::exited && log_pending() && reports_.empty() && !end_.leaked_processes;
  }
  void hand_over_log(engine::Instant now, AttemptOutput& out);
  void log_handed_over(std::uint64_t delivery, const std::string& problem, AttemptOutput& out);
  /// Sends the daemon the reason why it doesn't get the log.
  void give_up_log(const std::string& why, AttemptOutput& out);

  /// --- the worker --- It has reached its length, and waits for an answer or accepts a checkpoint signal. A
  /// program that only prints does neither: it ends voluntarily, or would lose its training.
  [[nodiscard]] bool waits_at_length() const;
  /// No daemon is connected: the program is asked to save a checkpoint and end, as with Directive::pause.
  void pause_alone(engine::Instant now, AttemptOutput& out);
  /// The program is asked to save a checkpoint and end, as with Directive::pause. Again: it has less time.
  void give_back(const GiveBack& order, engine::Instant now, AttemptOutput& out);
  void end_now(engine::Instant now, AttemptOutput& out);  ///< SIGTERM, grace, SIGKILL.
  void kill_now(AttemptOutput& out);
  void check_timers(engine::Instant now, AttemptOutput& out);

 private:
  enum class Phase : std::uint8_t {
    waiting,    ///< For slots.
    preparing,  ///< Its lease is being spooled.
    starting,   ///< StartProgram or AttachProgram was requested.
    running,
    ended,   ///< The program has exited; a checkpoint of it is still being published.
    exited,  ///< The exit report exists.
  };
  using Rung = EndLadder::Rung;
  /// When it began and ceased to hold its slots; the epoch: not yet.
  struct SlotsHeld {
    engine::Instant since;
    engine::Instant until;
  };

  // Each handles a message of the program. False: its question is answered later.
  bool take(const MetricsMessage& said, std::optional<QuestionId> question, engine::Instant now,
            AttemptOutput& out);
  bool take(const CheckpointMessage& said, std::optional<QuestionId> question, engine::Instant now,
            AttemptOutput& out);
  bool take(const InvalidHparamsMessage& said, std::optional<QuestionId> question, engine::Instant now,
            AttemptOutput& out);
  bool take(const MisunderstoodMessage& said, std::optional<QuestionId> question, engine::Instant now,
            AttemptOutput& out);
  bool take(const RemarkMessage& /*said*/, std::optional<QuestionId> /*question*/, engine::Instant /*now*/,
            AttemptOutput& /*out*/) {
    return true;
  }
  bool take(const auto& unread, std::optional<QuestionId> /*question*/, engine::Instant /*now*/,
            AttemptOutput& out) {
    review(unread, spec_, noter(out));
    return true;
  }

  /// Notes a mistake in the program's reports, each kind once: in the log, and for the daemon's users.
  void note(std::string_view about, const std::string& text, AttemptOutput& out);
  [[nodiscard]] ReportReview::Note noter(AttemptOutput& out);

  void answer(QuestionId question, engine::Instant now, AttemptOutput& out);
  void answer_waiting(engine::Instant now, AttemptOutput& out);
  void answer_ahead(AttemptOutput& out);
  void answer_written_checkpoints(engine::Instant now, AttemptOutput& out);
  void carry_out_stored_decisions(engine::Instant now, AttemptOutput& out);
  void publish_next(AttemptOutput& out);
  void checkpoint_settled(engine::Instant now, AttemptOutput& out);
  void ask_to_end(engine::Instant now, AttemptOutput& out);
  void ask(engine::Duration patience, engine::Instant now);
  [[nodiscard]] bool trains_on() const noexcept;
  [[nodiscard]] bool is_at_its_length() const noexcept;
  [[nodiscard]] bool may_finish() const noexcept;
  [[nodiscard]] bool is_wanted_at_its_end() const noexcept;
  [[nodiscard]] engine::Duration patience() const noexcept;
  void end_if_it_trains_on(bool asks, engine::Instant now, AttemptOutput& out);
  void note_its_end(AttemptOutput& out);
  [[nodiscard]] bool may_force() const noexcept;
  void terminate(engine::Instant now, AttemptOutput& out);
  [[nodiscard]] std::optional<engine::Instant> progress_due() const noexcept;
  void end_standstill(engine::Instant now, AttemptOutput& out);
  void look_for_progress(engine::Instant now, AttemptOutput& out);
  void over(const ProgramEnded& end, AttemptOutput& out);
  void stay_with_leaked_processes() noexcept;
  void no_more_leaked_processes(AttemptOutput& out);
  [[nodiscard]] bool takes_checkpoint_signal() const;
  /// If an attempt runs on several workers, only rank 0 reports; the others report their end.
  [[nodiscard]] bool reports_for_attempt() const noexcept { return spec_.rendezvous.rank == 0; }
  void ask_by_signal(engine::Instant now, AttemptOutput& out);
  void never_ran(engine::ExitReport::Cause cause, const std::string& message, AttemptOutput& out,
                 int code = 0);
  void make_exit_report();
  void keep(engine::Report report, bool decisive);
  [[nodiscard]] SpooledState state_to_spool() const;
  [[nodiscard]] bool may_spool() const noexcept;
  void finish(bool keep_logs, AttemptOutput& out);
  void log_over(AttemptOutput& out);
  void notice(Notice::Level level, const std::string& text, AttemptOutput& out) const;
  void rank(const engine::MetricsReport& report);
  void after_acknowledgement(AttemptOutput& out);

  jobs::LaunchSpec spec_;
  AttemptRules rules_;
  Phase phase_ = Phase::waiting;
  bool had_exited_ = false;  ///< At the time of the fence: the daemon may have its exit report.
  bool fenced_ = false;
  bool finished_ = false;
  bool was_started_ = false;
  bool never_ran_ = false;  ///< The next agent needs none of its data.
  bool found_ = false;      ///< An earlier agent has started it.
  SlotsHeld slots_held_;

  Orders orders_;
  Dialogue dialogue_;
  EndLadder ladder_;
  std::optional<GiveBack> ends_by_;  ///< Its worker ends then.
  AttemptEnd end_;
  CheckpointQueue checkpoints_;
  ReportReview review_;
  std::set<std::string> noted_;  ///< The kinds of notes so far.

  engine::Instant silent_since_;  ///< The last message, or the end of the last wait for the worker.
  std::optional<engine::Units> last_step_;
  std::optional<engine::Units> length_reported_;  ///< Step of the first report that reached its length.
  std::optional<double> best_metric_;             ///< The searcher's metric, from reports to this agent.
  bool reported_checkpoint_ = false;
  bool reported_invalid_ = false;
  bool noticed_thinning_ = false;

  std::uint64_t position_ = 0;  ///< The journal's position: earlier messages of the program are done.
  SpoolSchedule spool_;
  ReportQueue reports_;
  LogHandover log_;
  bool on_hold_ = false;  ///< The daemon doesn't accept its reports now.
};

}  // namespace hpsearch::workers
