#include "hpsearch/workers/core/attempt_machine.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/experiment/checkpoint_signal.hpp"
#include "hpsearch/workers/core/log_text.hpp"

namespace hpsearch::workers {

using engine::CheckpointReport;
using engine::Decision;
using engine::Directive;
using engine::Duration;
using engine::ExitReport;
using engine::Instant;
using engine::InvalidHparamsReport;
using engine::Lsn;
using engine::MetricsReport;
using engine::Report;
using engine::Units;
using engine::Value;

namespace {

// A batch stays well below proto::max_frame_bytes whatever one report adds to it, and below what the decoder
// takes as elements of one list.
constexpr std::size_t batch_bytes = 64 * 1024;
constexpr std::size_t batch_reports = 512;
// Batches of one attempt that are not acknowledged: what comes meanwhile waits for fewer, larger ones. A queue at the
// daemon holds 256 of a worker.
constexpr std::size_t batches_in_flight = 64;
// One lost frame makes the daemon ask once per frame behind it; they all mean the same.
constexpr Duration one_nack_per = Duration::millis(200);
// As much is spooled at once even when nothing of it decides.
constexpr std::size_t spool_burst = 64 * 1024;
// A spool is written anew when it is larger than this and most of it was acknowledged.
constexpr std::size_t small_spool = 1024 * 1024;
constexpr Duration spool_again_after = Duration::seconds(1);
// A look that comes later than this finds unread what the program said while we stood still.
constexpr Duration own_delay = Duration::seconds(5);

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

std::string signal_text(int number) {
  constexpr std::array<std::pair<int, std::string_view>, 9> names{
      {{2, "SIGINT"},
       {4, "SIGILL"},
       {6, "SIGABRT"},
       {7, "SIGBUS"},
       {8, "SIGFPE"},
       {9, "SIGKILL; perhaps the machine ran out of memory"},
       {11, "SIGSEGV"},
       {13, "SIGPIPE"},
       {15, "SIGTERM"}}};
  std::string text = "ended by signal " + std::to_string(number);
  for (const auto& [known, name] : names) {
    if (known == number) {
      text.append(" (").append(name).append(")");
    }
  }
  return text;
}

std::string status_text(int code) {
  switch (code) {
    case 0:
      return "";
    case 75:
      return "exit status 75: it asks to be run again";
    case 126:
      return "exit status 126: the command is not executable";
    case 127:
      return "exit status 127: the command was not found";
    default:
      return "exit status " + std::to_string(code);
  }
}

}  // namespace

AttemptMachine::AttemptMachine(engine::LaunchSpec spec, AttemptRules rules)
    : spec_(std::move(spec)), rules_(rules), length_(spec_.length), resend_after_(rules.first_resend) {
}

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
  speaks_ = state.speaks_socket ? Speaks::socket : state.speaks_lines ? Speaks::lines : Speaks::unknown;
  last_step_ = last_measured_ = state.last_step;
  length_reported_ = state.length_reported;
  said_checkpoint_ = state.said_checkpoint;
  said_invalid_ = state.said_invalid;
  no_progress_ = state.no_progress;
  remains_ = spooled_remains_ = state.unkillable;
  lost_checkpoint_ = state.lost_checkpoint;
  to_publish_.assign(state.checkpoints.begin(), state.checkpoints.end());
  position_ = state.position;
  acked_ = sent_ = state.acked;
  for (Report& report : found.reports) {
    const std::size_t bytes = std::visit(EncodedSize{}, report);
    kept_bytes_ += bytes;
    kept_.push_back({std::move(report), bytes});
  }
  spooled_ = last_seq();
}

engine::HeldAttempt AttemptMachine::held() const {
  return {.key = spec_.key,
          .exited = phase_ == Phase::exited && spooled_ == last_seq(),
          .last_seq = spooled_,
          .last_decision = last_decision_,
          .first_seq = acked_ + 1,
          .slots = spec_.slots,
          .length = spec_.length,
          .unkillable = tells_remains()};
}

std::optional<Instant> AttemptMachine::next_wake() const noexcept {
  std::optional<Instant> wake = resend_at_;
  if (may_force()) {
    wake = wake ? std::min(*wake, *force_at_) : *force_at_;
  }
  if (const auto due = progress_due()) {
    wake = wake ? std::min(*wake, *due) : *due;
  }
  if (may_spool() && (spool_at_once_ || spool_soon_)) {
    std::optional<Instant> due = spool_at_once_ ? spool_not_before_ : spool_at_;
    if (due && spool_not_before_) {
      due = std::max(*due, *spool_not_before_);
    }
    if (due) {
      wake = wake ? std::min(*wake, *due) : *due;
    }
  }
  return wake;
}

// --- its program ---

void AttemptMachine::start() {
  HPSEARCH_CHECK(phase_ == Phase::waiting, "an attempt starts once");
  phase_ = Phase::preparing;
  spool_at_once_ = true;  // The intent first: a program nobody knows of would hold its slots for ever.
}

void AttemptMachine::attach(AttemptOutput& out) {
  HPSEARCH_CHECK(found_, "only a found attempt has a program to attach to");
  if (phase_ == Phase::starting || remains_) {
    out.effects.emplace_back(AttachProgram{spec_.key, position_});
  }
}

void AttemptMachine::refuse(const std::string& why, AttemptOutput& out) {
  never_ran(ExitReport::Cause::could_not_start, why, out);
}

void AttemptMachine::started(Instant now, AttemptOutput& out) {
  if (phase_ != Phase::starting) {
    return;
  }
  phase_ = Phase::running;
  silent_since_ = now;
  was_started_ = true;
  if (!fenced_) {
    out.messages.emplace_back(proto::Started{spec_.key});
  }
  if (forcing_ == Forcing::killed) {
    out.effects.emplace_back(SignalProgram{spec_.key, true});
  } else if (forcing_ == Forcing::terminated) {
    out.effects.emplace_back(SignalProgram{spec_.key, false});
    force_at_ = now + rules_.grace;
  } else if (found_) {
    obey_stored(now, out);
  }
  answer_ahead(out);
}

/// What was decided before the agent died and may not have been carried out.
void AttemptMachine::obey_stored(Instant now, AttemptOutput& out) {
  publish_next(out);
  if (kill_decided_) {
    kill_now(out);
  } else if (no_progress_) {
    terminate(now, out);
  } else if (end_as_) {
    ask_to_end(now, out);
  }
}

void AttemptMachine::not_started(const std::string& why, AttemptOutput& out) {
  if (phase_ != Phase::starting) {
    return;
  }
  never_ran(ExitReport::Cause::could_not_start, why, out);
}

void AttemptMachine::said(const ProgramSaid& said, Instant now, AttemptOutput& out) {
  if (phase_ != Phase::running) {
    return;
  }
  position_ = std::max(position_, said.position);
  const engine::Result<ProgramMessage> message =
      said.question ? parse_socket_line(said.line) : parse_stdout_payload(said.line);
  const std::optional<QuestionId> question = said.answered ? std::nullopt : said.question;
  if (!message) {
    if (question) {
      answer_error(*question, message.error().message, out);
    }
    note(Flaw::misunderstood, "a message of the program was not understood: " + message.error().message, out);
    return;
  }
  silent_since_ = now;
  if (said.question) {
    speaks_ = Speaks::socket;
  } else if (speaks_ == Speaks::unknown) {
    speaks_ = Speaks::lines;
  }
  std::visit([&](const auto& known) { take(known, question, now, out); }, *message);
}

void AttemptMachine::take(const SaidMetrics& said, std::optional<QuestionId> question, Instant now,
                          AttemptOutput& out) {
  MetricsReport report{.step = said.step, .metrics = said.metrics};
  judge_step(said.step, out);
  judge_passing(report, out);
  last_step_ = std::max(last_step_.value_or(Units{}), said.step);
  if (!said.ignored.empty()) {
    note(Flaw::no_number, "the program reports \"" + said.ignored.front() + "\", which is no number; left out", out);
  }
  const bool asks = decides(report);
  if (asks && question && !asking_.empty() && length_reported_ == said.step) {
    asking_.push_back(*question);  // The same question on another connection.
    return;
  }
  if (asks) {
    length_reported_ = said.step;
  }
  if (asks || kept_bytes_ < rules_.kept_bytes) {
    keep(std::move(report), asks);
  } else if (!std::exchange(noticed_thinning_, true)) {
    notice(Notice::Level::warning,
           "the daemon is silent and too many reports wait for it; values between lengths are left out from "
           "now on",
           out);
  }
  if (!question) {
    return;
  }
  if (asks && !end_as_) {
    asking_.push_back(*question);
  } else {
    answer(*question, now, out);
  }
}

void AttemptMachine::take(const SaidCheckpoint& said, std::optional<QuestionId> question, Instant /*now*/,
                          AttemptOutput& out) {
  said_checkpoint_ = true;
  const Units step = said.step.value_or(last_step_.value_or(spec_.latest_step));
  to_publish_.push_back({.step = step, .question = question});
  publish_next(out);
}

void AttemptMachine::take(const SaidRemark& /*said*/, std::optional<QuestionId> question, Instant now,
                          AttemptOutput& out) {
  if (question) {
    answer(*question, now, out);
  }
}

void AttemptMachine::take(const SaidInvalid& said, std::optional<QuestionId> question, Instant now,
                          AttemptOutput& out) {
  if (!std::exchange(said_invalid_, true)) {
    keep(InvalidHparamsReport{said.why}, true);
  }
  end_as_ = Directive::stop;
  answer_ahead(out);
  if (question) {
    answer(*question, now, out);
  }
}

void AttemptMachine::take(const SaidUnreadable& said, std::optional<QuestionId> question, Instant now,
                          AttemptOutput& out) {
  note(Flaw::unreadable,
       "the pattern of metrics." + said.metric + " found " + engine::compact_json(Value(said.text)) +
           ", in which there is no number; such lines are left out",
       out);
  if (question) {
    answer(*question, now, out);
  }
}

void AttemptMachine::note(Flaw flaw, const std::string& text, AttemptOutput& out) {
  constexpr std::array<const char*, 6> names{"backward", "sparse", "missing", "unreadable", "no_number",
                                             "misunderstood"};
  constexpr std::size_t most = 1024;
  const auto which = static_cast<std::size_t>(flaw);
  if (std::exchange(noted_[which], true)) {
    return;
  }
  notice(Notice::Level::warning, text, out);
  const std::string_view piece = std::string_view(text).substr(0, most);
  keep(engine::NoteReport{.about = names[which],
                          .text = std::string(piece.substr(0, piece.size() - cut_character_at_end(piece)))},
       false);
}

void AttemptMachine::judge_step(Units step, AttemptOutput& out) {
  const auto at = [this](Units units) { return std::to_string(count(units)) + " " + spec_.unit; };
  if (last_step_ && step < *last_step_) {
    note(Flaw::backward,
         "it reports " + at(step) + " after " + at(*last_step_) + "; steps count what was trained in all and never fall",
         out);
  } else if (!last_step_ && step < spec_.latest_step) {
    note(Flaw::backward,
         "it was given a checkpoint of " + at(spec_.latest_step) + " and begins again at " + at(step) +
             "; it should load HPSEARCH_LATEST_CHECKPOINT and count on from there",
         out);
  }
}

/// Whether the report passes the asked length without, or long after, the value that the searcher waits for.
void AttemptMachine::judge_passing(const MetricsReport& report, AttemptOutput& out) {
  const auto at = [this](Units units) { return std::to_string(count(units)) + " " + spec_.unit; };
  if (names_metric(report)) {
    const bool passed = report.step > length_ && last_measured_.value_or(spec_.latest_step) < length_;
    if (passed) {
      note(Flaw::sparse,
           "it was asked for " + at(length_) + " and reports " + spec_.metric + " at " +
               at(last_measured_.value_or(spec_.latest_step)) + " and then at " + at(report.step) +
               "; the search decides late, on a later value: report more often",
           out);
    }
    last_measured_ = std::max(last_measured_.value_or(Units{}), report.step);
    return;
  }
  if (report.step < length_ || (last_measured_ && *last_measured_ >= length_)) {
    return;
  }
  if (!at_length_without_ || *at_length_without_ < length_) {
    at_length_without_ = report.step;  // Its metric may come in another report of this step.
    return;
  }
  if (report.step <= *at_length_without_) {
    return;
  }
  std::vector<std::string_view> names;
  for (const auto& [name, value] : report.metrics) {
    names.push_back(name);
  }
  const std::string_view near = engine::nearest(spec_.metric, names);
  note(Flaw::missing,
       "it has passed " + at(length_) + ", its asked length, without reporting \"" + spec_.metric +
           "\", the searcher's metric" +
           (names.empty() ? std::string() : "; it reports \"" + std::string(near.empty() ? names.front() : near) + "\""),
       out);
}

void AttemptMachine::published(const CheckpointReport& report, Instant now, AttemptOutput& out) {
  if (!publishing_) {
    return;
  }
  const std::optional<QuestionId> question = publishing_->question;
  keep(report, true);
  if (question) {
    answer(*question, now, out);
  }
  checkpoint_settled(now, out);
}

void AttemptMachine::not_published(bool was_empty, const std::string& why, Instant now, AttemptOutput& out) {
  if (!publishing_) {
    return;
  }
  const std::optional<QuestionId> question = publishing_->question;
  const bool nobody_asked = phase_ == Phase::ended && !said_checkpoint_;
  if (question) {
    answer_error(*question, why, out);
  }
  if (!(nobody_asked && was_empty)) {
    notice(Notice::Level::warning, "a checkpoint was not taken: " + why, out);
    lost_checkpoint_ = why;
  }
  checkpoint_settled(now, out);
}

void AttemptMachine::ended(const ProgramEnded& end, AttemptOutput& out) {
  if (remains_) {
    no_more_remains(out);
    return;
  }
  if (phase_ != Phase::running) {
    return;
  }
  phase_ = Phase::ended;
  end_ = end;
  signaled_by_us_ = signaled_by_us_ || end.asked;
  force_at_.reset();
  asking_.clear();
  if (publishing_) {
    return;
  }
  if (fenced_) {
    finish(false, out);
    return;
  }
  if (!end.by_signal && end.code == 0 && !said_checkpoint_) {
    // Whoever reports nothing may still leave a checkpoint: ending well says that it is complete.
    to_publish_.push_back({.step = last_step_.value_or(length_), .question = std::nullopt});
    publish_next(out);
    return;
  }
  make_exit_report();
}

/// Its trial goes on elsewhere; its slots do not.
void AttemptMachine::stuck(const std::string& why, AttemptOutput& out) {
  if (!alive()) {
    return;
  }
  phase_ = Phase::ended;
  remains_ = true;
  stuck_because_ = why;
  force_at_.reset();
  asking_.clear();
  to_publish_.clear();  // Whether it is whole nobody can say.
  notice(Notice::Level::error, why + "; its slots stay out of use until that is gone", out);
  if (publishing_) {
    return;
  }
  if (fenced_) {
    stay_with_remains();
  } else {
    make_exit_report();
  }
}

/// A fenced attempt reports nothing more. But the agent after this one has to know what is in its slots.
void AttemptMachine::stay_with_remains() noexcept {
  phase_ = Phase::exited;
  spool_at_once_ = true;
}

void AttemptMachine::no_more_remains(AttemptOutput& out) {
  remains_ = false;
  notice(Notice::Level::info, "nothing of it is left any more", out);
  if (phase_ == Phase::exited && (fenced_ || kept_.empty())) {
    finish(!fenced_, out);
  }
}

void AttemptMachine::lost(const std::string& why, AttemptOutput& out) {
  if (remains_) {
    no_more_remains(out);
    return;
  }
  if (!alive()) {
    return;
  }
  phase_ = Phase::ended;
  lost_because_ = why;
  force_at_.reset();
  asking_.clear();
  to_publish_.clear();  // Whether it is whole nobody can say.
  if (publishing_) {
    return;
  }
  if (fenced_) {
    finish(false, out);
  } else {
    make_exit_report();
  }
}

// --- its spool ---

bool AttemptMachine::may_spool() const noexcept {
  const bool is_wanted = !fenced_ || (remains_ && phase_ == Phase::exited);
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
  std::string bytes = anew_ ? spool_anew(spec_, state, before + 1, reports)
                            : spool_more(spec_.key, state, before + 1, reports);
  spool_bytes_ = (anew_ ? 0 : spool_bytes_) + bytes.size();
  writing_ = true;
  writing_upto_ = last_seq();
  writing_decision_ = last_decision_;
  writing_remains_ = state.unkillable;
  unspooled_bytes_ = 0;
  spool_at_once_ = spool_soon_ = false;
  spool_at_.reset();
  spool_not_before_.reset();
  out.effects.emplace_back(
      WriteSpool{spec_.key, ++writes_, std::move(bytes), std::exchange(anew_, false), position_});
}

void AttemptMachine::spool_written(std::uint64_t write, AttemptOutput& out) {
  if (!writing_ || write != writes_) {
    return;
  }
  writing_ = false;
  noticed_no_spool_ = false;
  spooled_ = std::max(spooled_, writing_upto_);
  spooled_decision_ = writing_decision_;
  spooled_remains_ = writing_remains_;
  std::erase_if(unacked_decisions_, [&](Lsn decision) {
    const bool durable = decision <= spooled_decision_;
    if (durable) {
      out.messages.emplace_back(proto::DecisionAck{spec_.key, decision});
    }
    return durable;
  });
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
    never_ran(ExitReport::Cause::could_not_start, why, out);
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
  state.said_checkpoint = said_checkpoint_;
  state.said_invalid = said_invalid_;
  state.no_progress = no_progress_;
  state.unkillable = remains_ && phase_ == Phase::exited;  // Before that, the next agent finds it stuck by itself.
  state.lost_checkpoint = lost_checkpoint_;
  state.asking = asking_;
  // The one that a silent program leaves by ending well comes back with the journal's last line.
  if (phase_ != Phase::ended || said_checkpoint_) {
    if (publishing_) {
      state.checkpoints.push_back(*publishing_);
    }
    state.checkpoints.insert(state.checkpoints.end(), to_publish_.begin(), to_publish_.end());
  }
  return state;
}

// --- the daemon ---

void AttemptMachine::lease_again(AttemptOutput& out) {
  on_hold_ = false;
  if (was_started_ && !fenced_) {
    out.messages.emplace_back(proto::Started{spec_.key});
  }
}

void AttemptMachine::decided(const Decision& decision, Instant now, AttemptOutput& out) {
  const bool forgettable = never_ran_ || fenced_ || finished_;
  if (forgettable || decision.id <= spooled_decision_) {
    out.messages.emplace_back(proto::DecisionAck{spec_.key, decision.id});
  } else if (std::find(unacked_decisions_.begin(), unacked_decisions_.end(), decision.id) ==
             unacked_decisions_.end()) {
    unacked_decisions_.push_back(decision.id);
  }
  if (decision.id <= last_decision_) {
    return;
  }
  last_decision_ = decision.id;
  spool_at_once_ = true;
  if (phase_ == Phase::ended || phase_ == Phase::exited || fenced_) {
    return;
  }
  switch (decision.directive) {
    case Directive::train_on: {
      length_ = std::max(length_, decision.length);
      if (end_as_ && !told_ && forcing_ <= Forcing::asked) {
        end_as_.reset();
        forcing_ = Forcing::none;
        force_at_.reset();
      }
      answer_ahead(out);  // First: after the answer, no later one may name the length of before.
      for (const QuestionId question : std::exchange(asking_, {})) {
        answer(question, now, out);
      }
      break;
    }
    case Directive::pause:
    case Directive::stop:
      if (phase_ == Phase::waiting || phase_ == Phase::preparing) {
        never_ran(ExitReport::Cause::ended_by_agent, "it was told to end before it started", out);
        return;
      }
      end_as_ = decision.directive;
      answer_ahead(out);
      ask_to_end(now, out);
      break;
    case Directive::kill:
      kill_decided_ = true;
      kill_now(out);
      break;
  }
}

void AttemptMachine::fenced(AttemptOutput& out) {
  if (finished_ || fenced_) {
    return;
  }
  fenced_ = true;
  spooled_ = acked_ = last_seq();
  kept_.clear();
  kept_bytes_ = 0;
  forget_sent();
  if (alive()) {
    kill_now(out);
  } else if (!publishing_ && !remains_) {
    finish(false, out);
  }
}

void AttemptMachine::hold() noexcept {
  on_hold_ = true;
  forget_sent();
}

void AttemptMachine::go_on(std::uint64_t upto, AttemptOutput& out) {
  on_hold_ = false;
  forget_sent();
  if (upto < acked_) {
    notice(Notice::Level::error,
           "the daemon knows its reports only up to " + std::to_string(upto) +
               ", but acknowledged them up to " + std::to_string(acked_) + ": its store is older than it was",
           out);
  }
  acknowledged(upto, out);
}

void AttemptMachine::acknowledged(std::uint64_t upto, AttemptOutput& out) {
  if (fenced_ || finished_) {
    return;
  }
  const std::uint64_t last = std::min(upto, last_seq());
  if (last > acked_) {
    unanswered_ = 0;
    resend_after_ = rules_.first_resend;
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
  while (!batches_.empty() && batches_.front() <= acked_) {
    batches_.pop_front();
  }
  if (phase_ == Phase::exited && kept_.empty() && !remains_) {
    finish(true, out);
  }
}

void AttemptMachine::resend_from(std::uint64_t expect, Instant now) noexcept {
  const bool again = last_nack_at_ && now - *last_nack_at_ < one_nack_per;
  if (again || expect > sent_) {
    return;
  }
  last_nack_at_ = now;
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

void AttemptMachine::session_lost() noexcept {
  forget_sent();
}

void AttemptMachine::forget_sent() noexcept {
  sent_ = acked_;
  in_flight_bytes_ = 0;
  batches_.clear();
  resend_at_.reset();
  resend_after_ = rules_.first_resend;
  last_nack_at_.reset();
  unanswered_ = 0;
}

void AttemptMachine::send(Instant now, std::size_t window, AttemptOutput& out) {
  if (on_hold_ || fenced_ || finished_) {
    return;
  }
  while (sent_ < spooled_ && in_flight_bytes_ < window && batches_.size() < batches_in_flight) {
    proto::Reports batch{.key = spec_.key, .first_seq = sent_ + 1, .reports = {}};
    std::size_t bytes = 0;
    while (sent_ < spooled_ && batch.reports.size() < batch_reports) {
      const Kept& next = kept_[static_cast<std::size_t>(sent_ - acked_)];
      if (!batch.reports.empty() && bytes + next.bytes > batch_bytes) {
        break;
      }
      bytes += next.bytes;
      batch.reports.push_back(next.report);
      ++sent_;
    }
    in_flight_bytes_ += bytes;
    batches_.push_back(sent_);
    out.messages.emplace_back(std::move(batch));
  }
  if (sent_ > acked_ && !resend_at_) {
    resend_at_ = now + resend_after_;
  }
}

// --- the worker ---

void AttemptMachine::end_now(Instant now, AttemptOutput& out) {
  if (phase_ == Phase::waiting || phase_ == Phase::preparing) {
    never_ran(ExitReport::Cause::ended_by_agent, "the worker ended before it started", out);
  } else if (alive() && forcing_ == Forcing::none && wants_checkpoint_signal()) {
    ask_by_signal(now, out);
  } else if (alive() && forcing_ < Forcing::terminated) {
    terminate(now, out);
  }
}

/// Not while the checkpoint it was asked for is on its way, and not when there is nothing left to force.
bool AttemptMachine::may_force() const noexcept {
  const bool suspended = forcing_ == Forcing::asked && publishing_;
  return force_at_ && !suspended && phase_ != Phase::ended && phase_ != Phase::exited;
}

void AttemptMachine::kill_now(AttemptOutput& out) {
  force_at_.reset();
  if (phase_ == Phase::waiting || phase_ == Phase::preparing) {
    never_ran(ExitReport::Cause::ended_by_agent, "it was told to end before it started", out);
    return;
  }
  if (!alive() || forcing_ == Forcing::killed) {
    return;
  }
  forcing_ = Forcing::killed;
  signaled_by_us_ = true;
  if (phase_ == Phase::running) {
    out.effects.emplace_back(SignalProgram{spec_.key, true});
  }
}

void AttemptMachine::look_at_clock(Instant now, AttemptOutput& out) {
  if (may_force() && now >= *force_at_) {
    if (forcing_ == Forcing::asked) {
      terminate(now, out);
    } else {
      kill_now(out);
    }
  }
  look_for_progress(now, out);
  if (resend_at_ && now >= *resend_at_) {
    sent_ = acked_;
    in_flight_bytes_ = 0;
    batches_.clear();
    resend_at_.reset();
    resend_after_ = std::min(rules_.longest_resend, resend_after_ + resend_after_);
    ++unanswered_;
  }
}

// --- inside ---

/// When it will have said nothing for too long; nothing while it is us who let it wait, or while it is being ended.
std::optional<Instant> AttemptMachine::progress_due() const noexcept {
  const bool watched = spec_.progress_timeout > Duration{} && phase_ == Phase::running && forcing_ == Forcing::none &&
                       asking_.empty() && !publishing_;
  return watched ? std::optional(silent_since_ + spec_.progress_timeout) : std::nullopt;
}

void AttemptMachine::look_for_progress(Instant now, AttemptOutput& out) {
  const std::optional<Instant> due = progress_due();
  if (!due || now < *due) {
    return;
  }
  if (now - *due > own_delay) {
    silent_since_ = silent_since_ + (now - *due) + own_delay;
    return;
  }
  no_progress_ = true;
  spool_at_once_ = true;
  notice(Notice::Level::warning,
         "it said nothing for " + std::to_string(spec_.progress_timeout.in_micros() / 1'000'000) + " s and is ended",
         out);
  terminate(now, out);
}

void AttemptMachine::answer(QuestionId question, Instant now, AttemptOutput& out) {
  silent_since_ = now;
  const char* directive = "continue";
  if (end_as_) {
    directive = *end_as_ == Directive::pause ? "pause" : "stop";
    if (!told_) {  // Asking again and again does not buy time.
      expect_end_within(rules_.grace, now);
    }
    told_ = true;
  }
  Value::Map line;
  line["directive"] = directive;
  line["length"] = static_cast<std::int64_t>(count(length_));
  out.effects.emplace_back(
      AnswerProgram{spec_.key, question, engine::compact_json(Value(std::move(line)))});
}

/// Only what needs no thought: below the length nothing is decided.
void AttemptMachine::answer_ahead(AttemptOutput& out) {
  if (phase_ != Phase::running) {
    return;
  }
  const Units below = end_as_ || kill_decided_ || fenced_ ? Units{} : length_;
  if (answered_ahead_ == below) {
    return;
  }
  answered_ahead_ = below;
  Value::Map line;
  line["directive"] = "continue";
  line["length"] = static_cast<std::int64_t>(count(length_));
  out.effects.emplace_back(AnswerAhead{spec_.key, below, engine::compact_json(Value(std::move(line)))});
}

void AttemptMachine::answer_error(QuestionId question, const std::string& what,
                                  AttemptOutput& out) const {
  Value::Map line;
  line["error"] = what;
  out.effects.emplace_back(
      AnswerProgram{spec_.key, question, engine::compact_json(Value(std::move(line)))});
}

void AttemptMachine::publish_next(AttemptOutput& out) {
  if (publishing_ || to_publish_.empty()) {
    return;
  }
  publishing_ = to_publish_.front();
  to_publish_.pop_front();
  out.effects.emplace_back(
      PublishCheckpoint{spec_.key, publishing_->step, spec_.checkpoint_root, spec_.storage_environment});
}

void AttemptMachine::checkpoint_settled(Instant now, AttemptOutput& out) {
  publishing_.reset();
  silent_since_ = now;
  if (phase_ == Phase::ended && fenced_) {
    if (remains_) {
      stay_with_remains();
    } else {
      finish(false, out);
    }
    return;
  }
  if (!to_publish_.empty()) {
    publish_next(out);
    return;
  }
  if (phase_ == Phase::ended) {
    make_exit_report();
  } else if (forcing_ == Forcing::asked && !waited_for_checkpoint_) {
    waited_for_checkpoint_ = true;         // Once: a program that saves for ever is ended too.
    expect_end_within(rules_.grace, now);  // It could not end while it waited for us.
  }
}

void AttemptMachine::ask_to_end(Instant now, AttemptOutput& out) {
  if (!asking_.empty()) {
    for (const QuestionId question : std::exchange(asking_, {})) {
      answer(question, now, out);
    }
    return;
  }
  if (speaks_ != Speaks::socket && wants_checkpoint_signal()) {
    ask_by_signal(now, out);
    return;
  }
  if (speaks_ != Speaks::lines) {
    expect_end_within(rules_.grace, now);  // It hears at its next report, if it makes one.
    return;
  }
  const bool at_length = length_reported_ && *length_reported_ >= length_;
  if (at_length) {
    expect_end_within(rules_.quiet_end, now);  // Most end there by themselves.
  } else if (forcing_ < Forcing::terminated) {
    terminate(now, out);
  }
}

void AttemptMachine::expect_end_within(Duration patience, Instant now) noexcept {
  if (forcing_ < Forcing::terminated) {
    forcing_ = Forcing::asked;
    force_at_ = now + patience;
  }
}

bool AttemptMachine::wants_checkpoint_signal() const {
  return spec_.environment_variables.contains(engine::checkpoint_signal_variable);
}

/// For who does not hear answers, or will not ask in time.
void AttemptMachine::ask_by_signal(Instant now, AttemptOutput& out) {
  expect_end_within(rules_.grace, now);
  signaled_by_us_ = true;  // That it ends then is no decision of its own.
  if (phase_ == Phase::running) {
    out.effects.emplace_back(SignalProgram{spec_.key, false, true});
  }
}

void AttemptMachine::terminate(Instant now, AttemptOutput& out) {
  forcing_ = Forcing::terminated;
  force_at_ = now + rules_.grace;
  signaled_by_us_ = true;
  if (phase_ == Phase::running) {
    out.effects.emplace_back(SignalProgram{spec_.key, false});
  }
}

void AttemptMachine::never_ran(ExitReport::Cause cause, const std::string& message, AttemptOutput& out) {
  phase_ = Phase::exited;
  never_ran_ = true;
  force_at_.reset();
  if (fenced_) {
    finish(false, out);
    return;
  }
  for (const Lsn decision : std::exchange(unacked_decisions_, {})) {
    out.messages.emplace_back(proto::DecisionAck{spec_.key, decision});
  }
  keep(ExitReport{.cause = cause, .code = 0, .message = message, .log_tail = ""}, true);
}

void AttemptMachine::make_exit_report() {
  phase_ = Phase::exited;
  ExitReport report;
  report.code = end_ ? end_->code : 0;
  const bool failed = end_ && (end_->by_signal || end_->code != 0);
  report.unkillable = remains_;
  if (no_progress_) {
    report.cause = ExitReport::Cause::no_progress;
    report.message = "ended: it said nothing for " +
                     std::to_string(spec_.progress_timeout.in_micros() / 1'000'000) + " s (progress_timeout)";
    report.log_tail = end_ ? end_->log_tail : "";
  } else if (signaled_by_us_ || (lost_because_ && kill_decided_)) {
    report.cause = ExitReport::Cause::ended_by_agent;
  } else if (!end_ && !lost_because_) {
    report.cause = ExitReport::Cause::lost;  // How its first process ended was not told before the rest is gone.
  } else if (lost_because_) {
    report.cause = ExitReport::Cause::lost;
    report.message = *lost_because_;
  } else if (failed && end_->out_of_memory) {
    report.cause = ExitReport::Cause::out_of_memory;
    report.message = "ended by the kernel: its memory limit was reached";
    report.log_tail = end_->log_tail;
  } else {
    report.cause = end_->by_signal ? ExitReport::Cause::signaled : ExitReport::Cause::exited;
    report.message = end_->by_signal ? signal_text(end_->code) : status_text(end_->code);
    report.log_tail = failed ? end_->log_tail : "";
  }
  if (remains_) {
    report.message.append(report.message.empty() ? "" : "; ").append(stuck_because_);
  }
  if (!lost_checkpoint_.empty()) {
    report.message.append(report.message.empty() ? "" : "; ")
        .append("a checkpoint was not taken: " + lost_checkpoint_);
  }
  keep(std::move(report), true);
}

void AttemptMachine::keep(Report report, bool decisive) {
  if (fenced_) {
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

void AttemptMachine::finish(bool keep_logs, AttemptOutput& out) {
  phase_ = Phase::exited;
  finished_ = true;
  resend_at_.reset();
  force_at_.reset();
  out.effects.emplace_back(DeleteAttempt{spec_.key, keep_logs});
}

void AttemptMachine::notice(Notice::Level level, const std::string& text, AttemptOutput& out) const {
  out.effects.emplace_back(Notice{level, "experiment " + std::to_string(spec_.key.experiment.number()) +
                                             " trial " + std::to_string(spec_.key.trial.number()) +
                                             " attempt " + std::to_string(spec_.key.attempt.number()) + ": " +
                                             text});
}

bool AttemptMachine::names_metric(const MetricsReport& report) const {
  return std::any_of(report.metrics.begin(), report.metrics.end(),
                     [this](const auto& named) { return named.first == spec_.metric; });
}

bool AttemptMachine::decides(const MetricsReport& report) const {
  return report.step >= length_ && names_metric(report);
}

}  // namespace hpsearch::workers
