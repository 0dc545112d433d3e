// AttemptMachine: what is kept for the daemon: in memory, in the spool, under way.

#include <algorithm>
#include <utility>
#include <variant>

#include "hpsearch/workers/core/attempt_machine.hpp"
#include "hpsearch/workers/core/log_text.hpp"

namespace hpsearch::workers {

using engine::CheckpointReport;
using engine::Directive;
using engine::Duration;
using engine::ExitReport;
using engine::Instant;
using engine::InvalidHparamsReport;
using engine::Lsn;
using engine::MetricsReport;
using engine::Report;

namespace {

// A batch stays below what the decoder takes as elements of one list.
constexpr std::size_t batch_reports = 512;
// Batches of one attempt that are not acknowledged: what comes meanwhile waits for fewer, larger ones. A
// queue at the daemon holds 256 of a worker.
constexpr std::size_t batches_in_flight = 64;
// One lost frame makes the daemon ask once per frame behind it; they all mean the same.
constexpr Duration one_nack_per = Duration::millis(200);
// As much is spooled at once even when nothing of it decides.
constexpr std::size_t spool_burst = 64 * 1024;
// A spool is written anew when it is larger than this and most of it was acknowledged.
constexpr std::size_t small_spool = 1024 * 1024;
constexpr Duration spool_again_after = Duration::seconds(1);

/// About what a report takes encoded; never much less.
struct EncodedSize {
  std::size_t operator()(const MetricsReport& report) const {
    std::size_t bytes = 48;
    for (const auto& [name, value] : report.metrics) {
      bytes += name.size() + 16;
    }
    return bytes;
  }
  std::size_t operator()(const CheckpointReport& report) const { return 96 + report.path.size(); }
  std::size_t operator()(const InvalidHparamsReport& report) const { return 48 + report.why.size(); }
  std::size_t operator()(const engine::NoteReport& report) const {
    return 48 + report.about.size() + report.text.size();
  }
  std::size_t operator()(const ExitReport& report) const {
    return 96 + report.message.size() + report.log_tail.size();
  }
};

}  // namespace

AttemptMachine::AttemptMachine(SpooledAttempt found, AttemptRules rules)
    : AttemptMachine(std::move(found.spec), rules) {
  const SpooledState& state = found.state;
  phase_ = state.exited ? Phase::exited : Phase::starting;
  found_ = true;
  last_decision_ = spooled_decision_ = state.last_decision;
  length_ = std::max(length_, state.length);
  kill_decided_ = state.told == Directive::kill;
  if (!kill_decided_) {
    end_as_ = state.told;
  }
  asking_ = state.asking;
  for (const QuestionId question : state.saved) {
    unsaid_checkpoints_.emplace_back(0, question);
  }
  speaks_ = state.speaks_socket ? Speaks::socket : state.speaks_lines ? Speaks::lines : Speaks::unknown;
  last_step_ = last_measured_ = state.last_step;
  length_reported_ = state.length_reported;
  reported_checkpoint_ = state.reported_checkpoint;
  reported_invalid_ = state.reported_invalid;
  no_progress_ = state.no_progress;
  ended_here_ = state.ended_here;
  paused_alone_ = state.paused_alone;
  leaked_processes_ = spooled_leaked_processes_ = state.unkillable;
  lost_checkpoint_ = state.lost_checkpoint;
  to_publish_.assign(state.checkpoints.begin(), state.checkpoints.end());
  position_ = spooled_position_ = state.position;
  acked_ = sent_ = state.acked;
  for (Report& report : found.reports) {
    const std::size_t bytes = std::visit(EncodedSize{}, report);
    kept_bytes_ += bytes;
    kept_.push_back({std::move(report), bytes});
  }
  spooled_ = last_seq();
}

void AttemptMachine::keep(Report report, bool decisive) {
  if (fenced_ || (!reports_for_attempt() && !std::holds_alternative<ExitReport>(report))) {
    return;
  }
  spool_at_once_ = spool_at_once_ || decisive;
  spool_soon_ = true;
  const std::size_t bytes = std::visit(EncodedSize{}, report);
  kept_bytes_ += bytes;
  unspooled_bytes_ += bytes;
  kept_.push_back({std::move(report), bytes});
  if (never_ran_) {
    spooled_ = last_seq();
  }
}

bool AttemptMachine::may_spool() const noexcept {
  const bool is_wanted = !fenced_ || (leaked_processes_ && phase_ == Phase::exited);
  return is_wanted && !writing_ && !finished_ && !never_ran_;
}

void AttemptMachine::spool(Instant now, AttemptOutput& out) {
  if (!may_spool() || !(spool_at_once_ || spool_soon_)) {
    return;
  }
  if (!spool_at_) {
    spool_at_ = now + rules_.spool_within;
  }
  const bool due = spool_at_once_ || unspooled_bytes_ >= spool_burst || now >= *spool_at_;
  if (!due || (spool_not_before_ && now < *spool_not_before_)) {
    return;
  }
  anew_ = anew_ || (spool_bytes_ > small_spool && kept_bytes_ < spool_bytes_ / 2);
  const std::uint64_t before = anew_ ? acked_ : spooled_;
  std::vector<Report> reports;
  reports.reserve(static_cast<std::size_t>(last_seq() - before));
  for (std::uint64_t seq = before + 1; seq <= last_seq(); ++seq) {
    reports.push_back(kept_[static_cast<std::size_t>(seq - acked_ - 1)].report);
  }
  const SpooledState state = state_to_spool();
  std::string bytes =
      anew_ ? spool_anew(spec_, state, before + 1, reports) : spool_more(state, before + 1, reports);
  spool_bytes_ = (anew_ ? 0 : spool_bytes_) + bytes.size();
  writing_ = true;
  spooled_position_ = position_;
  writing_upto_ = last_seq();
  writing_decision_ = last_decision_;
  writing_leaked_processes_ = state.unkillable;
  unspooled_bytes_ = 0;
  spool_at_once_ = spool_soon_ = false;
  spool_at_.reset();
  spool_not_before_.reset();
  out.effects.emplace_back(
      WriteSpool{spec_.key, ++writes_, std::move(bytes), std::exchange(anew_, false), position_});
}

void AttemptMachine::spool_written(std::uint64_t write, Instant now, AttemptOutput& out) {
  if (!writing_ || write != writes_) {
    return;
  }
  writing_ = false;
  noticed_no_spool_ = false;
  spooled_ = std::max(spooled_, writing_upto_);
  spooled_decision_ = writing_decision_;
  spooled_leaked_processes_ = writing_leaked_processes_;
  std::erase_if(unacked_decisions_, [&](Lsn decision) {
    const bool durable = decision <= spooled_decision_;
    if (durable) {
      out.messages.emplace_back(proto::DecisionAck{spec_.key, decision});
    }
    return durable;
  });
  report_checkpoints(now, out);
  if (phase_ == Phase::preparing) {
    phase_ = Phase::starting;
    out.effects.emplace_back(StartProgram{spec_});
  }
}

void AttemptMachine::spool_not_written(std::uint64_t write, const std::string& why, Instant now,
                                       AttemptOutput& out) {
  if (!writing_ || write != writes_) {
    return;
  }
  writing_ = false;
  if (phase_ == Phase::preparing) {
    never_ran(ExitReport::Cause::lost, why, out);  // The worker's disk is to blame, not the program.
    return;
  }
  // What a failed write has left is unknown, and what a failed sync has left too: all of it once more.
  anew_ = true;
  spool_at_once_ = true;
  spool_not_before_ = now + spool_again_after;
  if (!std::exchange(noticed_no_spool_, true)) {
    notice(Notice::Level::warning, "its reports wait until they can be written down here: " + why, out);
  }
}

SpooledState AttemptMachine::state_to_spool() const {
  SpooledState state;
  state.exited = phase_ == Phase::exited;
  state.position = position_;
  state.acked = acked_;
  state.last_decision = last_decision_;
  state.told = kill_decided_ ? std::optional(Directive::kill) : end_as_;
  state.length = length_;
  state.speaks_lines = speaks_ == Speaks::lines;
  state.speaks_socket = speaks_ == Speaks::socket;
  state.last_step = last_step_;
  state.length_reported = length_reported_;
  state.reported_checkpoint = reported_checkpoint_;
  state.reported_invalid = reported_invalid_;
  state.no_progress = no_progress_;
  state.ended_here = ended_here_;
  state.paused_alone = paused_alone_;
  state.unkillable =
      leaked_processes_ && phase_ == Phase::exited;  // Before that, the next agent finds it stuck by itself.
  state.lost_checkpoint = lost_checkpoint_;
  state.asking = asking_;
  for (const auto& [seq, question] : unsaid_checkpoints_) {
    state.saved.push_back(question);
  }
  // The one that a silent program leaves by ending well comes back with the journal's last line.
  if (phase_ != Phase::ended || reported_checkpoint_) {
    if (publishing_) {
      state.checkpoints.push_back(*publishing_);
    }
    state.checkpoints.insert(state.checkpoints.end(), to_publish_.begin(), to_publish_.end());
  }
  return state;
}

void AttemptMachine::acknowledged(std::uint64_t upto, AttemptOutput& out) {
  if (fenced_ || finished_) {
    return;
  }
  const std::uint64_t last = std::min(upto, last_seq());
  if (last > acked_) {
    unanswered_ = 0;
    resend_after_ = first_resend();
    resend_at_.reset();
  }
  for (; acked_ < last; ++acked_) {
    kept_bytes_ -= kept_.front().bytes;
    if (acked_ < sent_) {
      in_flight_bytes_ -= kept_.front().bytes;
    }
    kept_.pop_front();
  }
  sent_ = std::max(sent_, acked_);
  if (acked_ > spooled_) {
    // The daemon knows more than this spool, which is a copy of an older one: it goes on behind that.
    spooled_ = acked_;
    anew_ = true;
  }
  while (!batches_.empty() && batches_.front() <= acked_) {
    batches_.pop_front();
  }
  if (phase_ == Phase::exited && kept_.empty() && !leaked_processes_) {
    finish(true, out);
  }
}

void AttemptMachine::answered(std::uint64_t upto, Instant now, AttemptOutput& out) {
  if (timed_ && upto >= timed_->seq) {
    const Duration took = now - timed_->sent;
    answer_time_ =
        answer_time_ ? Duration::micros((7 * answer_time_->in_micros() + took.in_micros()) / 8) : took;
    timed_.reset();
  }
  acknowledged(upto, out);
}

Duration AttemptMachine::first_resend() const noexcept {
  const Duration patience = Duration::micros(answer_time_ ? 4 * answer_time_->in_micros() : 0);
  return std::clamp(patience, rules_.first_resend, rules_.longest_resend);
}

void AttemptMachine::resend_from(std::uint64_t expect, Instant now) noexcept {
  const bool again = last_nack_at_ && now - *last_nack_at_ < one_nack_per;
  if (again || expect > sent_) {
    return;
  }
  last_nack_at_ = now;
  timed_.reset();
  sent_ = acked_;
  in_flight_bytes_ = 0;
  while (!batches_.empty() && batches_.back() >= expect) {
    batches_.pop_back();
  }
  for (std::uint64_t seq = acked_ + 1; seq < expect; ++seq) {
    in_flight_bytes_ += kept_[static_cast<std::size_t>(seq - acked_ - 1)].bytes;
    sent_ = seq;
  }
}

void AttemptMachine::asked_to_wait(Instant until) noexcept {
  unanswered_ = 0;
  if (resend_at_) {
    resend_at_ = until;
    resend_after_ = first_resend();
  }
}

void AttemptMachine::session_lost() noexcept {
  forget_sent();
}

void AttemptMachine::forget_sent() noexcept {
  sent_ = acked_;
  in_flight_bytes_ = 0;
  batches_.clear();
  resend_at_.reset();
  timed_.reset();
  resend_after_ = first_resend();
  last_nack_at_.reset();
  unanswered_ = 0;
}

void AttemptMachine::send(Instant now, std::size_t window, AttemptOutput& out) {
  if (on_hold_ || fenced_ || finished_) {
    return;
  }
  const auto has_room = [this, window] {
    const std::size_t next = kept_[static_cast<std::size_t>(sent_ - acked_)].bytes;
    return batches_.size() < batches_in_flight &&
           (in_flight_bytes_ == 0 || in_flight_bytes_ + next <= window);
  };
  while (sent_ < spooled_ && has_room()) {
    proto::Reports batch{.key = spec_.key, .first_seq = sent_ + 1, .reports = {}};
    std::size_t bytes = 0;
    const std::size_t most = std::min(rules_.batch_bytes, window - std::min(window, in_flight_bytes_));
    while (sent_ < spooled_ && batch.reports.size() < batch_reports) {
      const Kept& next = kept_[static_cast<std::size_t>(sent_ - acked_)];
      if (!batch.reports.empty() && bytes + next.bytes > most) {
        break;
      }
      bytes += next.bytes;
      batch.reports.push_back(next.report);
      ++sent_;
    }
    in_flight_bytes_ += bytes;
    batches_.push_back(sent_);
    if (!timed_ && unanswered_ == 0) {
      timed_ = Timed{sent_, now};
    }
    out.messages.emplace_back(std::move(batch));
  }
  if (sent_ > acked_ && !resend_at_) {
    resend_at_ = now + spread_.about(resend_after_);
  }
}

}  // namespace hpsearch::workers
