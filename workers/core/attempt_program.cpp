// AttemptMachine: what its program says, and what it is told.

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <variant>

#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/experiment/absent_metric.hpp"
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
using engine::Value;

namespace {

// A look that comes later than this finds unread what the program said while we stood still.
constexpr Duration own_delay = Duration::seconds(5);
// Metrics whose steps are looked at.
constexpr std::size_t most_followed = 1000;
// When reports are left out, nothing else asks for the journal's space to be given back.
constexpr std::uint64_t unspooled_journal = std::uint64_t{16} * 1024 * 1024;

bool is_of_training(const MetricsReport& report) {
  constexpr std::string_view training = "training.";
  return std::all_of(report.metrics.begin(), report.metrics.end(),
                     [training](const auto& named) { return named.first.starts_with(training); });
}

bool are_same(const MetricsReport& a, const MetricsReport& b) {
  const auto same_value = [](const auto& one, const auto& other) {
    return one.first == other.first &&
           (one.second == other.second || (std::isnan(one.second) && std::isnan(other.second)));
  };
  return a.step == b.step &&
         std::equal(a.metrics.begin(), a.metrics.end(), b.metrics.begin(), b.metrics.end(), same_value);
}

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
    if (said.question) {
      speaks_ = Speaks::socket;
    } else if (speaks_ == Speaks::unknown) {
      speaks_ = Speaks::lines;
    }
  }
  std::visit([&](const auto& known) { take(known, question, now, out); }, said.message);
}

void AttemptMachine::take(const MetricsMessage& said, std::optional<QuestionId> question, Instant now,
                          AttemptOutput& out) {
  MetricsReport report{.step = said.step, .metrics = said.metrics};
  judge_step(report, out);
  judge_progress(report, speaks_ == Speaks::socket, now, out);
  judge_passing(report, out);
  judge_value(report, out);
  if (speaks_ == Speaks::lines && !found_) {
    printed_.take(said.step, now);
  }
  rank(report);
  last_step_ = std::max(last_step_.value_or(Units{}), said.step);
  if (!said.ignored.empty()) {
    note(Flaw::no_number,
         "the program reports \"" + said.ignored.front() + "\", but its value is not a number; it is ignored",
         out);
  }
  const bool stands = speaks_ == Speaks::socket && stands_without_metric(report);
  const bool at_length = decides(report);
  if (at_length && question && !asking_.empty() && asked_with_ && are_same(*asked_with_, report)) {
    asking_.push_back(*question);  // The same question on another connection.
    return;
  }
  // Each length is asked about once: who trains on beyond it while nobody decides is not kept report by
  // report.
  const bool asks = at_length && asked_at_ < length_;
  if (at_length) {
    asked_with_ = report;
  }
  if (asks) {
    length_reported_ = said.step;
    asked_at_ = length_;
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
  if (!question) {
    return;
  }
  if (stands && !end_as_) {
    without_.clear();  // Should it go on, it is counted anew.
    keep(engine::UnmeasuredReport{said.step}, true);
    asking_.push_back(*question);
  } else if (at_length && !end_as_) {
    asking_.push_back(*question);
  } else {
    answer(*question, now, out);
  }
}

void AttemptMachine::take(const CheckpointMessage& said, std::optional<QuestionId> question, Instant /*now*/,
                          AttemptOutput& out) {
  reported_checkpoint_ = true;
  const Units step = said.step.value_or(last_step_.value_or(spec_.latest_step));
  to_publish_.push_back({.step = step, .question = question});
  publish_next(out);
}

void AttemptMachine::take(const RemarkMessage& /*said*/, std::optional<QuestionId> question, Instant now,
                          AttemptOutput& out) {
  if (question) {
    answer(*question, now, out);
  }
}

void AttemptMachine::take(const InvalidHparamsMessage& said, std::optional<QuestionId> question, Instant now,
                          AttemptOutput& out) {
  if (!std::exchange(reported_invalid_, true)) {
    keep(InvalidHparamsReport{said.why}, true);
  }
  end_as_ = Directive::stop;
  answer_ahead(out);
  if (question) {
    answer(*question, now, out);
  }
}

void AttemptMachine::take(const UnreadableMessage& said, std::optional<QuestionId> question, Instant now,
                          AttemptOutput& out) {
  note(Flaw::unreadable,
       "the pattern of metrics." + said.metric + " found " + engine::compact_json(Value(said.text)) + ": " +
           said.why + "; such lines are ignored",
       out);
  if (question) {
    answer(*question, now, out);
  }
}

void AttemptMachine::take(const DoubtfulMessage& said, std::optional<QuestionId> question, Instant now,
                          AttemptOutput& out) {
  const std::string line = engine::compact_json(Value(said.line));
  if (!said.other.empty()) {
    note(Flaw::other_metric,
         "the pattern of metrics." + said.metric + " reads the number of " + said.other + " in the line " +
             line + R"(; begin what stands before {number} with \b, or with more of the line)",
         out);
  } else if (spec_.unit == "epochs") {
    note(Flaw::each_batch,
         "the pattern of metrics." + said.metric +
             " has no {step}, so each of its lines counts as one epoch, but it prints several in an epoch: " +
             line + ". Write {step} where the number of the epoch stands",
         out);
  }
  if (question) {
    answer(*question, now, out);
  }
}

void AttemptMachine::take(const LookalikeMessage& said, std::optional<QuestionId> question, Instant now,
                          AttemptOutput& out) {
  note(Flaw::lookalike,
       "the line " + engine::compact_json(Value(said.line)) + " looks like a report, but " + said.why +
           "; it is not read. A report is a line of standard output that begins with HPSEARCH, one space and "
           "{, as: HPSEARCH {\"step\": 3, \"" +
           spec_.metric + "\": 0.5}",
       out);
  if (question) {
    answer(*question, now, out);
  }
}

void AttemptMachine::take(const UnreadMessage& said, std::optional<QuestionId> question, Instant now,
                          AttemptOutput& out) {
  std::string quoted;  // As YAML: in single quotes these stand twice.
  for (const char c : said.pattern) {
    quoted += c == '\'' ? "''" : std::string(1, c);
  }
  const bool has_pattern = spec_.metric_patterns.contains(spec_.metric);
  note(Flaw::unread,
       "it prints the line " + engine::compact_json(Value(said.line)) + ", " +
           (has_pattern ? "which the pattern of metrics." + spec_.metric + " doesn't match"
                        : "and nothing reads the number in it") +
           "; this in the experiment file does: metrics: {" + spec_.metric + ": '" + quoted + "'}",
       out);
  if (question) {
    answer(*question, now, out);
  }
}

void AttemptMachine::take(const MisunderstoodMessage& said, std::optional<QuestionId> question,
                          Instant /*now*/, AttemptOutput& out) {
  if (question) {
    answer_error(*question, said.why, out);
  }
  note(Flaw::misunderstood, "a message of the program was not understood: " + said.why, out);
}

void AttemptMachine::note(Flaw flaw, const std::string& text, AttemptOutput& out) {
  constexpr std::array<const char*, flaws> names{
      "backward",   "sparse",   "missing", "unreadable", "no_number", "misunderstood", "lookalike",
      "not_finite", "standing", "late",    "unread",     "ended",     "other_metric",  "each_batch"};
  constexpr std::size_t most = 1024;
  const auto which = static_cast<std::size_t>(flaw);
  if (std::exchange(noted_[which], true)) {
    return;
  }
  notice(Notice::Level::warning, text, out);
  const std::string_view piece = std::string_view(text).substr(0, most);
  keep(engine::NoteReport{.about = names[which],
                          .text = std::string(
                              piece.substr(0, piece.size() - proto::cut_character_at_end(piece)))},
       false);
}

void AttemptMachine::judge_step(const MetricsReport& report, AttemptOutput& out) {
  const auto at = [this](Units units) { return engine::amount(units, spec_.unit); };
  if (!last_step_ && report.step < spec_.latest_step) {
    note(Flaw::backward,
         "it was given a checkpoint of " + at(spec_.latest_step) + " and begins again at " + at(report.step) +
             "; it should load HPSEARCH_LATEST_CHECKPOINT and count on from there",
         out);
  }
  for (const auto& [name, value] : report.metrics) {
    const auto known = last_steps_.find(name);
    if (known == last_steps_.end()) {
      if (last_steps_.size() < most_followed) {
        last_steps_.emplace(name, report.step);
      }
      continue;
    }
    if (report.step < known->second) {
      note(Flaw::backward,
           "it reports " + at(report.step) + " after " + at(known->second) +
               "; steps count what was trained in all and never fall",
           out);
    }
    known->second = std::max(known->second, report.step);
  }
}

/// Its best value decides how long its files stay. After a takeover values from before are not known.
void AttemptMachine::rank(const MetricsReport& report) {
  for (const auto& [name, value] : report.metrics) {
    const bool better =
        !best_metric_ || (spec_.larger_is_better ? value > *best_metric_ : value < *best_metric_);
    if (name == spec_.metric && !std::isnan(value) && better) {
      best_metric_ = value;
    }
  }
}

/// Whether the report passes the asked length without, or long after, the value that the searcher waits for.
void AttemptMachine::judge_passing(const MetricsReport& report, AttemptOutput& out) {
  const auto at = [this](Units units) { return std::to_string(count(units)) + " " + spec_.unit; };
  if (names_metric(report)) {
    const Units before = last_measured_.value_or(spec_.latest_step);
    if (report.step > length_ && before < length_) {
      const bool is_first = !last_measured_ && before == Units{};
      note(Flaw::sparse,
           "its length is " + at(length_) + ", but it reports " + spec_.metric +
               (is_first ? " first at " : " at " + at(before) + " and then at ") + at(report.step) +
               "; the search decides late, on a later value. Report more often",
           out);
    }
    last_measured_ = std::max(last_measured_.value_or(Units{}), report.step);
    return;
  }
  judge_absence(report, out);
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
  note(Flaw::missing,
       "it has passed " + at(length_) + ", its asked length, and " +
           engine::absent_metric_text(names, spec_.metric),
       out);
}

/// The first report without the value that the search needs. A line that patterns are looked for in makes
/// several reports, and programs that know groups report each by itself: what comes next may have it.
void AttemptMachine::judge_absence(const MetricsReport& report, AttemptOutput& out) {
  if (last_measured_ || report.metrics.empty() || is_of_training(report)) {
    return;
  }
  const bool in_parts = spec_.metric_patterns.contains(spec_.metric);
  if (in_parts && (!first_without_ || report.step <= *first_without_)) {
    first_without_ = first_without_.value_or(report.step);
    return;
  }
  std::vector<std::string_view> names;
  for (const auto& [name, value] : report.metrics) {
    names.push_back(name);
  }
  note(Flaw::missing,
       "at " + engine::amount(report.step, spec_.unit) + " it " +
           engine::absent_metric_text(names, spec_.metric),
       out);
}

void AttemptMachine::judge_value(const MetricsReport& report, AttemptOutput& out) {
  for (const auto& [name, value] : report.metrics) {
    if (name != spec_.metric) {
      continue;
    }
    measured_finite_ = measured_finite_ || std::isfinite(value);
    if (!measured_finite_) {
      note(Flaw::not_finite,
           "at " + engine::amount(report.step, spec_.unit) + " it reported " + spec_.metric + " as " +
               (std::isnan(value) ? "NaN" : "infinite") +
               ", and nothing else so far; the search can compare finite values only",
           out);
    }
  }
}

/// Whoever asks reports once in each step, so a step that stands still is a mistake. Lines may be printed for
/// each batch.
void AttemptMachine::judge_progress(const MetricsReport& report, bool asks, Instant now, AttemptOutput& out) {
  constexpr std::uint64_t suspicious = 10;
  constexpr std::uint64_t most = 1'000;
  if (!asks || !names_metric(report)) {
    return;
  }
  standing_ = standing_at_ == report.step ? standing_ + 1 : 1;
  standing_at_ = report.step;
  const std::string there = "reports in a row were at " + engine::amount(report.step, spec_.unit) +
                            "; the step has to grow with what was trained";
  if (standing_ >= suspicious) {
    note(Flaw::standing, "its last " + std::to_string(standing_) + " " + there, out);
  }
  if (standing_ >= most && !no_progress_ && forcing_ == Forcing::none && !end_as_) {
    no_progress_ = true;
    stands_ = std::to_string(most) + " " + there;
    spool_.ask_at_once();
    notice(Notice::Level::warning, stands_ + "; it is ended", out);
    terminate(now, out);
  }
}

void AttemptMachine::judge_buffering(AttemptOutput& out) {
  if (fenced_ || speaks_ == Speaks::socket || !printed_.came_at_once()) {
    return;
  }
  const auto seconds = printed_.silence().in_micros() / 1'000'000;
  note(Flaw::late,
       "it ran for " + std::to_string(seconds) + " s without a report, and then all of " +
           std::to_string(printed_.count()) +
           " steps came at once: its output seems to be buffered, and the search heard of no step before the "
           "last one. Flush after each line" +
           (spec_.contract.terminal ? "" : ", or set environment.terminal: true"),
       out);
}

void AttemptMachine::published(const CheckpointReport& report, Instant now, AttemptOutput& out) {
  if (!publishing_) {
    return;
  }
  const std::optional<QuestionId> question = publishing_->question;
  const std::uint64_t before = reports_.last();
  keep(report, true);
  if (question && reports_.last() > spool_.on_disk().reports && reports_.last() > before) {
    unsaid_checkpoints_.emplace_back(reports_.last(), *question);
  } else if (question) {
    answer(*question, now, out);  // Nobody is told of it.
  }
  checkpoint_settled(now, out);
}

void AttemptMachine::report_checkpoints(Instant now, AttemptOutput& out) {
  std::erase_if(unsaid_checkpoints_, [&](const auto& waiting) {
    const auto& [seq, question] = waiting;
    if (seq <= spool_.on_disk().reports) {
      answer(question, now, out);
    }
    return seq <= spool_.on_disk().reports;
  });
}

void AttemptMachine::not_published(bool was_empty, const std::string& why, Instant now, AttemptOutput& out) {
  if (!publishing_) {
    return;
  }
  const std::optional<QuestionId> question = publishing_->question;
  const bool nobody_asked = phase_ == Phase::ended && !reported_checkpoint_;
  if (question) {
    answer_error(*question, why, out);
  }
  if (!(nobody_asked && was_empty)) {
    notice(Notice::Level::warning, "a checkpoint was not taken: " + why, out);
    lost_checkpoint_ = why;
  }
  checkpoint_settled(now, out);
}

void AttemptMachine::publish_next(AttemptOutput& out) {
  if (publishing_ || to_publish_.empty()) {
    return;
  }
  publishing_ = to_publish_.front();
  to_publish_.pop_front();
  out.effects.emplace_back(PublishCheckpoint{spec_.key, publishing_->step, spec_.checkpoint_root,
                                             spec_.storage_environment, spec_.default_storage});
}

void AttemptMachine::checkpoint_settled(Instant now, AttemptOutput& out) {
  publishing_.reset();
  silent_since_ = now;
  if (phase_ == Phase::ended && fenced_) {
    if (leaked_processes_) {
      stay_with_leaked_processes();
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
    waited_for_checkpoint_ = true;       // Once: a program that saves for ever is ended too.
    expect_end_within(patience(), now);  // It could not end while it waited for us.
  }
}

void AttemptMachine::answer(QuestionId question, Instant now, AttemptOutput& out) {
  silent_since_ = now;
  const char* directive = "continue";
  if (end_as_) {
    directive = *end_as_ == Directive::pause ? "pause" : "stop";
    if (!told_) {  // Asking again and again does not buy time.
      expect_end_within(patience(), now);
    }
    told_ = true;
  }
  Value::Map line;
  line["directive"] = directive;
  line["length"] = static_cast<std::int64_t>(count(length_));
  out.effects.emplace_back(AnswerProgram{spec_.key, question, engine::compact_json(Value(std::move(line)))});
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

void AttemptMachine::answer_error(QuestionId question, const std::string& what, AttemptOutput& out) const {
  Value::Map line;
  line["error"] = what;
  out.effects.emplace_back(AnswerProgram{spec_.key, question, engine::compact_json(Value(std::move(line)))});
}

/// When it will have said nothing for too long; nothing while it is us who let it wait, or while it is being
/// ended.
std::optional<Instant> AttemptMachine::progress_due() const noexcept {
  const bool watched = reports_for_attempt() && spec_.progress_timeout > Duration{} &&
                       phase_ == Phase::running && forcing_ == Forcing::none && asking_.empty() &&
                       !publishing_;
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
  spool_.ask_at_once();
  notice(Notice::Level::warning,
         "no report from it for " + std::to_string(spec_.progress_timeout.in_micros() / 1'000'000) +
             " s; it is ended",
         out);
  terminate(now, out);
}

bool AttemptMachine::names_metric(const MetricsReport& report) const {
  return std::any_of(report.metrics.begin(), report.metrics.end(),
                     [this](const auto& named) { return named.first == spec_.metric; });
}

/// At its length it reports again what it has reported there, and not the searcher's metric. A program may be
/// as many processes as it has slots, each of which reports; and what it reports several times in a step, a
/// loss of training above all, it does at its length too, before its metric.
bool AttemptMachine::stands_without_metric(const MetricsReport& report) {
  constexpr std::uint64_t most_of_training = 1'000;
  if (names_metric(report)) {
    return false;
  }
  if (without_at_ != report.step) {
    for (const auto& [name, times] : std::exchange(without_, {})) {
      usual_repeats_ = std::max(usual_repeats_, times);
    }
    without_at_ = report.step;
  }
  const std::uint64_t fine =
      is_of_training(report) ? most_of_training : std::max<std::uint64_t>(usual_repeats_, spec_.slots.size());
  bool again = false;
  for (const auto& [name, value] : report.metrics) {
    if (without_.size() < most_followed || without_.contains(name)) {
      again = ++without_[name] > fine || again;
    }
  }
  return again && report.step >= length_ && !(last_measured_ && *last_measured_ >= length_);
}

bool AttemptMachine::decides(const MetricsReport& report) const {
  return report.step >= length_ && names_metric(report);
}

}  // namespace hpsearch::workers
