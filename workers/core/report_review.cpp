#include "hpsearch/workers/core/report_review.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/experiment/absent_metric.hpp"

namespace hpsearch::workers {

using engine::MetricsReport;
using engine::Units;
using engine::Value;
using Context = ReportReview::Context;

namespace {

// Metrics whose steps are compared.
constexpr std::size_t most_followed = 1000;

bool is_of_training(const MetricsReport& report) {
  constexpr std::string_view training = "training.";
  return std::all_of(report.metrics.begin(), report.metrics.end(),
                     [training](const auto& named) { return named.first.starts_with(training); });
}

std::vector<std::string_view> names_of(const MetricsReport& report) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : report.metrics) {
    names.push_back(name);
  }
  return names;
}

}  // namespace

bool has_metric(const MetricsReport& report, std::string_view name) {
  return std::any_of(report.metrics.begin(), report.metrics.end(),
                     [name](const auto& named) { return named.first == name; });
}

void ReportReview::take(const MetricsReport& report, const Context& context) {
  check_steps(report, context);
  check_progress(report, context);
  check_passing(report, context);
  check_value(report, context);
}

void ReportReview::check_steps(const MetricsReport& report, const Context& context) {
  const auto at = [&context](Units units) { return engine::amount(units, context.spec.unit); };
  if (!context.last_step && report.step < context.spec.latest_step) {
    context.note("backward", "it was given a checkpoint of " + at(context.spec.latest_step) +
                                 " and begins again at " + at(report.step) +
                                 "; it should load HPSEARCH_LATEST_CHECKPOINT and count on from there");
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
      context.note("backward", "it reports " + at(report.step) + " after " + at(known->second) +
                                   "; steps count what was trained in all and never fall");
    }
    known->second = std::max(known->second, report.step);
  }
}

/// A program with a socket reports once in each step, so a step that doesn't grow is a mistake. Lines may be
/// printed for each batch.
void ReportReview::check_progress(const MetricsReport& report, const Context& context) {
  constexpr std::uint64_t suspicious = 10;
  constexpr std::uint64_t most = 1'000;
  standstill_.clear();
  if (!context.by_socket || !has_metric(report, context.spec.metric)) {
    return;
  }
  standing_ = standing_at_ == report.step ? standing_ + 1 : 1;
  standing_at_ = report.step;
  const std::string there = " reports in a row were at " + engine::amount(report.step, context.spec.unit) +
                            "; the step has to grow with what was trained";
  if (standing_ >= suspicious) {
    context.note("standing", "its last " + std::to_string(standing_) + there);
  }
  if (standing_ >= most) {
    standstill_ = std::to_string(most) + there;
  }
}

/// Notes a report that passes the requested length without the value that the searcher waits for, or long
/// after it.
void ReportReview::check_passing(const MetricsReport& report, const Context& context) {
  const auto at = [&context](Units units) { return engine::amount(units, context.spec.unit); };
  if (has_metric(report, context.spec.metric)) {
    const Units before = last_measured_.value_or(context.spec.latest_step);
    if (report.step > context.length && before < context.length) {
      const bool is_first = !last_measured_ && before == Units{};
      context.note("sparse",
                   "its length is " + at(context.length) + ", but it reports " + context.spec.metric +
                       (is_first ? " first at " : " at " + at(before) + " and then at ") + at(report.step) +
                       "; the search decides late, on a later value. Report more often");
    }
    last_measured_ = std::max(last_measured_.value_or(Units{}), report.step);
    return;
  }
  check_absence(report, context);
  if (report.step < context.length || (last_measured_ && *last_measured_ >= context.length)) {
    return;
  }
  if (!at_length_without_ || *at_length_without_ < context.length) {
    at_length_without_ = report.step;  // Its metric may be in another report of this step.
    return;
  }
  if (report.step <= *at_length_without_) {
    return;
  }
  context.note("missing", "it has passed " + at(context.length) + ", its asked length, and " +
                              engine::absent_metric_text(names_of(report), context.spec.metric));
}

/// The first report without the value that the search needs. A line that matches several patterns makes
/// several reports, and programs with groups of metrics report each group: the next report may have it.
void ReportReview::check_absence(const MetricsReport& report, const Context& context) {
  if (last_measured_ || report.metrics.empty() || is_of_training(report)) {
    return;
  }
  const bool in_parts = context.spec.metric_patterns.contains(context.spec.metric);
  if (in_parts && (!first_without_ || report.step <= *first_without_)) {
    first_without_ = first_without_.value_or(report.step);
    return;
  }
  context.note("missing", "at " + engine::amount(report.step, context.spec.unit) + " it " +
                              engine::absent_metric_text(names_of(report), context.spec.metric));
}

void ReportReview::check_value(const MetricsReport& report, const Context& context) {
  for (const auto& [name, value] : report.metrics) {
    if (name != context.spec.metric) {
      continue;
    }
    measured_finite_ = measured_finite_ || std::isfinite(value);
    if (!measured_finite_) {
      context.note("not_finite", "at " + engine::amount(report.step, context.spec.unit) + " it reported " +
                                     context.spec.metric + " as " + (std::isnan(value) ? "NaN" : "infinite") +
                                     ", and nothing else so far; the search can compare finite values only");
    }
  }
}

void ReportReview::ended(const jobs::LaunchSpec& spec, const Note& note) const {
  if (!printed_.came_at_once()) {
    return;
  }
  const auto seconds = printed_.silence().in_micros() / 1'000'000;
  note("late", "it ran for " + std::to_string(seconds) + " s without a report, and then all of " +
                   std::to_string(printed_.count()) +
                   " steps came at once. If it trained all that time, its output is buffered, and the search "
                   "heard of no "
                   "step before the last one: flush after each line" +
                   (spec.contract.terminal ? "" : ", or set environment.terminal: true"));
}

bool ReportReview::repeats_without_metric(const MetricsReport& report, const Context& context) {
  constexpr std::uint64_t most_of_training = 1'000;
  if (has_metric(report, context.spec.metric)) {
    return false;
  }
  if (without_at_ != report.step) {
    for (const auto& [name, times] : std::exchange(without_, {})) {
      usual_repeats_ = std::max(usual_repeats_, times);
    }
    without_at_ = report.step;
  }
  const std::uint64_t fine = is_of_training(report)
                                 ? most_of_training
                                 : std::max<std::uint64_t>(usual_repeats_, context.spec.slots.size());
  bool again = false;
  for (const auto& [name, value] : report.metrics) {
    if (without_.size() < most_followed || without_.contains(name)) {
      again = ++without_[name] > fine || again;
    }
  }
  return again && report.step >= context.length && !(last_measured_ && *last_measured_ >= context.length);
}

void review(const UnreadableMessage& message, const jobs::LaunchSpec& /*spec*/,
            const ReportReview::Note& note) {
  note("unreadable", "the pattern of metrics." + message.metric + " found " +
                         engine::compact_json(Value(message.text)) + ": " + message.why +
                         "; such lines are ignored");
}

void review(const DoubtfulMessage& message, const jobs::LaunchSpec& spec, const ReportReview::Note& note) {
  const std::string line = engine::compact_json(Value(message.line));
  if (!message.other.empty()) {
    note("other_metric", "the pattern of metrics." + message.metric + " reads the number of " +
                             message.other + " in the line " + line +
                             R"(; begin what stands before {number} with \b, or with more of the line)");
  } else if (spec.unit == "epochs") {
    note("each_batch",
         "the pattern of metrics." + message.metric +
             " has no {step}, so each of its lines counts as one epoch, but it prints several in an epoch: " +
             line + ". Write {step} where the number of the epoch stands");
  }
}

void review(const LookalikeMessage& message, const jobs::LaunchSpec& spec, const ReportReview::Note& note) {
  note("malformed_report",
       "the line " + engine::compact_json(Value(message.line)) + " looks like a report, but " + message.why +
           "; it is not read. A report is a line of standard output that begins with HPSEARCH, one space and "
           "{, as: HPSEARCH {\"step\": 3, \"" +
           spec.metric + "\": 0.5}");
}

void review(const UnreadMessage& message, const jobs::LaunchSpec& spec, const ReportReview::Note& note) {
  std::string quoted;  // In YAML, single quotes are doubled inside single quotes.
  for (const char c : message.pattern) {
    quoted += c == '\'' ? "''" : std::string(1, c);
  }
  const bool has_pattern = spec.metric_patterns.contains(spec.metric);
  note("unread", "it prints the line " + engine::compact_json(Value(message.line)) + ", " +
                     (has_pattern ? "which the pattern of metrics." + spec.metric + " doesn't match"
                                  : "and nothing reads the number in it") +
                     "; this in the experiment file does: metrics: {" + spec.metric + ": '" + quoted + "'}");
}

}  // namespace hpsearch::workers
