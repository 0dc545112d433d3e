#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/workers/core/printed_steps.hpp"
#include "hpsearch/workers/core/program_message.hpp"

namespace hpsearch::workers {

[[nodiscard]] bool has_metric(const engine::MetricsReport& report, std::string_view name);

/// Finds mistakes in the way a program reports, and notes them for its author.
///
/// Owns: values only. Time comes from the caller. Cost: O(log names) per report.
class ReportReview {
 public:
  /// Gets a mistake: its short name, and a sentence. The same mistake may come again.
  using Note = std::function<void(std::string_view about, const std::string& text)>;

  /// A report is compared with these facts.
  struct Context {
    const jobs::LaunchSpec& spec;
    engine::Units length;                    ///< Where the program must ask next.
    std::optional<engine::Units> last_step;  ///< The highest step before this report.
    bool by_socket = false;                  ///< The program asks questions.
    const Note& note;
  };

  void began(engine::Instant now) noexcept { printed_.began(now); }
  /// An earlier agent has got reports up to this step.
  void restore(std::optional<engine::Units> last_step) noexcept { last_measured_ = last_step; }

  void take(const engine::MetricsReport& report, const Context& context);
  /// A line with this step was printed.
  void printed(engine::Units step, engine::Instant now) noexcept { printed_.take(step, now); }
  void ended(const jobs::LaunchSpec& spec, const Note& note) const;

  /// After take(): why the program makes no progress although it reports, or "".
  [[nodiscard]] const std::string& standstill() const noexcept { return standstill_; }

  /// The program repeats its report at the length without the searcher's metric. It may be as many processes
  /// as it has slots, each of which reports; and what it reports several times in a step (a training loss,
  /// for example) it may report as often at its length, before its metric.
  [[nodiscard]] bool repeats_without_metric(const engine::MetricsReport& report, const Context& context);
  /// It goes on: repeats are counted anew.
  void forget_repeats() noexcept { without_.clear(); }

 private:
  void check_steps(const engine::MetricsReport& report, const Context& context);
  void check_progress(const engine::MetricsReport& report, const Context& context);
  void check_passing(const engine::MetricsReport& report, const Context& context);
  void check_absence(const engine::MetricsReport& report, const Context& context);
  void check_value(const engine::MetricsReport& report, const Context& context);

  /// For each metric: the lines on a program's two outputs come in two orders.
  std::map<std::string, engine::Units, std::less<>> last_steps_;
  std::optional<engine::Units> last_measured_;      ///< Step of the last report with the searcher's metric.
  std::optional<engine::Units> at_length_without_;  ///< Step of a report at the length that lacked it.
  std::optional<engine::Units> first_without_;      ///< Step of the first report of all that lacked it.
  std::optional<engine::Units> without_at_;         ///< At this step, without the searcher's metric, …
  std::map<std::string, std::uint64_t, std::less<>> without_;  ///< … these were reported so often …
  std::uint64_t usual_repeats_ = 1;                            ///< … and at earlier steps at most so often.
  bool measured_finite_ = false;
  std::uint64_t standing_ = 0;                ///< Reports of its metric in a row …
  std::optional<engine::Units> standing_at_;  ///< … at this step.
  std::string standstill_;
  PrintedSteps printed_;  ///< None after a takeover: when they came is not known.
};

// The notes about lines that were not read as reports.
void review(const UnreadableMessage& message, const jobs::LaunchSpec& spec, const ReportReview::Note& note);
void review(const DoubtfulMessage& message, const jobs::LaunchSpec& spec, const ReportReview::Note& note);
void review(const LookalikeMessage& message, const jobs::LaunchSpec& spec, const ReportReview::Note& note);
void review(const UnreadMessage& message, const jobs::LaunchSpec& spec, const ReportReview::Note& note);

}  // namespace hpsearch::workers
