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

/// Finds mistakes in a program's reports, and notes them for its author.
///
/// Owns: values only. Time comes from the caller. Cost: O(log names) per report.
class ReportReview {
 public:
  /// Receives a mistake: its short name, and a sentence. The same mistake may be passed again.
  using Note = std::function<void(std::string_view about, const std::string& text)>;

  /// The facts that a report is compared with.
  struct Context {
    const jobs::LaunchSpec& spec;
    engine::Units length;                    ///< The length at which the program must ask next.
    std::optional<engine::Units> last_step;  ///< The highest step before this report.
    bool by_socket = false;                  ///< The program asks questions.
    const Note& note;
  };

  void began(engine::Instant now) noexcept { printed_.began(now); }
  /// An earlier agent has received reports up to this step.
  void restore(std::optional<engine::Units> last_step) noexcept { last_measured_ = last_step; }

  void take(const engine::MetricsReport& report, const Context& context);
  /// A line with this step was printed.
  void printed(engine::Units step, engine::Instant now) noexcept { printed_.take(step, now); }
  void ended(const jobs::LaunchSpec& spec, const Note& note) const;

  /// After take(): why the program makes no progress although it reports, or "".
  [[nodiscard]] const std::string& standstill() const noexcept { return standstill_; }

  /// Whether the program repeats its report at the length without the searcher's metric. It may have as many
  /// processes as slots, and each of them reports; and a value that it reports several times per step (a
  /// training loss, for example) may come as often at its length, before the metric.
  [[nodiscard]] bool repeats_without_metric(const engine::MetricsReport& report, const Context& context);
  /// The program continues: repeats are counted from 0.
  void forget_repeats() noexcept { without_.clear(); }

 private:
  void check_steps(const engine::MetricsReport& report, const Context& context);
  void check_progress(const engine::MetricsReport& report, const Context& context);
  void check_passing(const engine::MetricsReport& report, const Context& context);
  void check_absence(const engine::MetricsReport& report, const Context& context);
  void check_value(const engine::MetricsReport& report, const Context& context);

  /// By metric, because the lines of a program's two outputs aren't in the same order.
  std::map<std::string, engine::Units, std::less<>> last_steps_;
  std::optional<engine::Units> last_measured_;  ///< The step of the last report with the searcher's metric.
  std::optional<engine::Units> at_length_without_;  ///< The step of a report at the length without it.
  std::optional<engine::Units> first_without_;      ///< The step of the first report without it.
  std::optional<engine::Units> without_at_;         ///< At this step, without the searcher's metric, …
  std::map<std::string, std::uint64_t, std::less<>> without_;  ///< … these metrics were reported this often …
  std::uint64_t usual_repeats_ = 1;  ///< … and at earlier steps at most this often.
  bool measured_finite_ = false;
  std::uint64_t standing_ = 0;                ///< Consecutive reports of its metric …
  std::optional<engine::Units> standing_at_;  ///< … at this step.
  std::string standstill_;
  PrintedSteps printed_;  ///< None after a takeover, because their times are unknown.
};

// Notes about lines that weren't read as reports.
void review(const UnreadableMessage& message, const jobs::LaunchSpec& spec, const ReportReview::Note& note);
void review(const DoubtfulMessage& message, const jobs::LaunchSpec& spec, const ReportReview::Note& note);
void review(const LookalikeMessage& message, const jobs::LaunchSpec& spec, const ReportReview::Note& note);
void review(const UnreadMessage& message, const jobs::LaunchSpec& spec, const ReportReview::Note& note);

}  // namespace hpsearch::workers
