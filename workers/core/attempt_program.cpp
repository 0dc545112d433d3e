// AttemptMachine: messages of its program, and the answers.

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "hpsearch/proto/encoding/utf8.hpp"
#include "hpsearch/workers/core/attempt_machine.hpp"

namespace hpsearch::workers {

using engine::CheckpointReport;
using engine::Directive;
using engine::Duration;
using engine::Instant;
using engine::InvalidHparamsReport;
using engine::MetricsReport;
using engine::Units;

namespace {

// If this process was suspended for longer, messages of the program are unread.
constexpr Duration own_delay = Duration::seconds(5);
// If reports are left out, nothing else frees the journal's space.
constexpr std::uint64_t unspooled_journal = std::uint64_t{16} * 1024 * 1024;

}  // namespace

void AttemptMachine::said(const ProgramMessageReceived& said, Instant now, AttemptOutput& out) {
  if (phase_ != Phase::running) {
    return;
  }
  position_ = std::max(position_, said.position);
  if (!reports_for_attempt()) {
    if (said.question && !said.answered) {
      answer(*said.question, now, out);
    }
    return;
  }
  const std::optional<QuestionId> question = said.answered ? std::nullopt : said.question;
  if (!std::holds_alternative<MisunderstoodMessage>(said.message)) {
    silent_since_ = now;
    dialogue_.message_came(said.question.has_value());
  }
  const bool is_answered_now =
      std::visit([&](const auto& known) { return take(known, question, now, out); }, said.message);
  if (question && is_answered_now) {
    answer(*question, now, out);
  }
}

bool AttemptMachine::take(const MetricsMessage& said, std::optional<QuestionId> question, Instant now,
                          AttemptOutput& out) {
  MetricsReport report{.step = said.step, .metrics = said.metrics};
  const ReportReview::Note noted = noter(out);
  const ReportReview::Context context{spec_, orders_.length, last_step_, dialogue_.has_socket(), noted};
  review_.take(report, context);
  if (!review_.standstill().empty()) {
    end_standstill(now, out);
  }
  if (dialogue_.prints_lines() && !found_) {
    review_.printed(said.step, now);
  }
  rank(report);
  last_step_ = std::max(last_step_.value_or(Units{}), said.step);
  if (!said.ignored.empty()) {
    note("no_number",
         "the program reports \"" + said.ignored.front() + "\", but its value is not a number; it is ignored",
         out);
  }
  const bool repeats = context.by_socket && review_.repeats_without_metric(report, context);
  const bool at_length = report.step >= orders_.length && has_metric(report, spec_.metric);
  if (at_length && question && dialogue_.repeats(report)) {
    dialogue_.wait(*question);
    return false;
  }
  const bool asks = at_length && dialogue_.asks_about(orders_.length, report);
  if (asks) {
    length_reported_ = said.step;
  }
  if (asks || reports_.bytes() < rules_.kept_bytes) {
    keep(std::move(report), asks);
  } else {
    if (position_ > spool_.written_position() + unspooled_journal) {
      spool_.ask_soon();
    }
    if (!std::exchange(noticed_thinning_, true)) {
      notice(
          Notice::Level::warning,
          "the daemon is silent and too many reports wait for it; values between lengths are left out from "
          "now on",
          out);
    }
  }
  end_if_it_trains_on(question.has_value(), now, out);
  if (!question || orders_.end_as || !(repeats || at_length)) {
    return true;
  }
  if (repeats) {
    review_.forget_repeats();
    keep(engine::UnmeasuredReport{said.step}, true);
  }
  dialogue_.wait(*question);
  return false;
}

bool AttemptMachine::take(const CheckpointMessage& said, std::optional<QuestionId> question, Instant /*now*/,
                          AttemptOutput& out) {
  reported_checkpoint_ = true;
  const Units step = said.step.value_or(last_step_.value_or(spec_.latest_step));
  checkpoints_.add({.step = step, .question = question});
  publish_next(out);
  return false;
}

bool AttemptMachine::take(const InvalidHparamsMessage& said, std::optional<QuestionId> /*question*/,
                          Instant /*now*/, AttemptOutput& out) {
  if (!std::exchange(reported_invalid_, true)) {
    keep(InvalidHparamsReport{said.why}, true);
  }
  orders_.end_as = Directive::stop;
  answer_ahead(out);
  return true;
}

bool AttemptMachine::take(const MisunderstoodMessage& said, std::optional<QuestionId> question,
                          Instant /*now*/, AttemptOutput& out) {
  if (question) {
    out.effects.emplace_back(AnswerProgram{spec_.key, *question, error_line(said.why)});
  }
  note("misunderstood", "a message of the program was not understood: " + said.why, out);
  return false;
}

void AttemptMachine::note(std::string_view about, const std::string& text, AttemptOutput& out) {
  constexpr std::size_t most = 1024;
  if (!noted_.insert(std::string(about)).second) {
    return;
  }
  notice(Notice::Level::warning, text, out);
  const std::string_view piece = std::string_view(text).substr(0, most);
  keep(engine::NoteReport{.about = std::string(about),
                          .text = std::string(
                              piece.substr(0, piece.size() - proto::cut_character_at_end(piece)))},
       false);
}

ReportReview::Note AttemptMachine::noter(AttemptOutput& out) {
  return [this, &out](std::string_view about, const std::string& text) { note(about, text, out); };
}

/// The best value decides how long its files are kept. After a takeover, earlier values are unknown.
void AttemptMachine::rank(const MetricsReport& report) {
  for (const auto& [name, value] : report.metrics) {
    const bool better =
        !best_metric_ || (spec_.larger_is_better ? value > *best_metric_ : value < *best_metric_);
    if (name == spec_.metric && !std::isnan(value) && better) {
      best_metric_ = value;
    }
  }
}

void AttemptMachine::published(const CheckpointReport& report, Instant now, AttemptOutput& out) {
  if (!checkpoints_.publishing()) {
    return;
  }
  const std::optional<QuestionId> question = checkpoints_.publishing()->question;
  const std::uint64_t before = reports_.last();
  keep(report, true);
  if (question && reports_.last() > spool_.on_disk().reports && reports_.last() > before) {
    checkpoints_.answer_when_written(reports_.last(), *question);
  } else if (question) {
    answer(*question, now, out);  // Its report was not kept.
  }
  checkpoint_settled(now, out);
}

void AttemptMachine::not_published(bool was_empty, const std::string& why, Instant now, AttemptOutput& out) {
  if (!checkpoints_.publishing()) {
    return;
  }
  const std::optional<QuestionId> question = checkpoints_.publishing()->question;
  const bool is_unreported = phase_ == Phase::ended && !reported_checkpoint_;
  if (question) {
    out.effects.emplace_back(AnswerProgram{spec_.key, *question, error_line(why)});
  }
  if (!(is_unreported && was_empty)) {
    notice(Notice::Level::warning, "a checkpoint was not taken: " + why, out);
    end_.lost_checkpoint = why;
  }
  checkpoint_settled(now, out);
}

void AttemptMachine::checkpoint_settled(Instant now, AttemptOutput& out) {
  checkpoints_.end();
  silent_since_ = now;
  if (phase_ == Phase::ended && fenced_) {
    if (end_.leaked_processes) {
      stay_with_leaked_processes();
    } else {
      finish(false, out);
    }
    return;
  }
  if (checkpoints_.has_waiting()) {
    publish_next(out);
    return;
  }
  if (phase_ == Phase::ended) {
    make_exit_report();
  } else {
    ladder_.ask_again(patience(), now);  // It could not end while it waited for the checkpoint.
  }
}

void AttemptMachine::publish_next(AttemptOutput& out) {
  if (const std::optional<WantedCheckpoint> next = checkpoints_.begin_next()) {
    out.effects.emplace_back(PublishCheckpoint{spec_.key, next->step, spec_.checkpoint_root,
                                               spec_.storage_environment, spec_.default_storage});
  }
}

void AttemptMachine::answer_written_checkpoints(Instant now, AttemptOutput& out) {
  for (const QuestionId question : checkpoints_.written(spool_.on_disk().reports)) {
    answer(question, now, out);
  }
}

void AttemptMachine::answer(QuestionId question, Instant now, AttemptOutput& out) {
  silent_since_ = now;
  if (orders_.end_as && dialogue_.tell_end()) {  // Only once: asking again doesn't extend the patience.
    ask(patience(), now);
  }
  out.effects.emplace_back(AnswerProgram{spec_.key, question, answer_line(orders_.end_as, orders_.length)});
}

void AttemptMachine::answer_waiting(Instant now, AttemptOutput& out) {
  for (const QuestionId question : dialogue_.take_waiting()) {
    answer(question, now, out);
  }
}

/// Below the length there are no decisions, so the shim can answer there.
void AttemptMachine::answer_ahead(AttemptOutput& out) {
  const Units below = orders_.end_as || orders_.kill || fenced_ ? Units{} : orders_.length;
  if (phase_ == Phase::running && dialogue_.answers_ahead(below)) {
    out.effects.emplace_back(AnswerAhead{spec_.key, below, answer_line(std::nullopt, orders_.length)});
  }
}

/// When its silence is too long; nothing while it waits for the worker, or is being ended.
std::optional<Instant> AttemptMachine::progress_due() const noexcept {
  const bool watched = reports_for_attempt() && spec_.progress_timeout > Duration{} &&
                       phase_ == Phase::running && ladder_.rung() == Rung::none &&
                       dialogue_.waiting().empty() && !checkpoints_.publishing();
  return watched ? std::optional(silent_since_ + spec_.progress_timeout) : std::nullopt;
}

void AttemptMachine::end_standstill(Instant now, AttemptOutput& out) {
  if (end_.no_progress || ladder_.rung() != Rung::none || orders_.end_as) {
    return;
  }
  end_.no_progress = true;
  end_.standstill = review_.standstill();
  spool_.ask_at_once();
  notice(Notice::Level::warning, end_.standstill + "; it is ended", out);
  terminate(now, out);
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
  end_.no_progress = true;
  spool_.ask_at_once();
  notice(Notice::Level::warning,
         "no report from it for " + std::to_string(spec_.progress_timeout.in_micros() / 1'000'000) +
             " s; it is ended",
         out);
  terminate(now, out);
}

}  // namespace hpsearch::workers
