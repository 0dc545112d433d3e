#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/jobs/patterns/metric_pattern.hpp"
#include "hpsearch/workers/core/program_message.hpp"

namespace hpsearch::workers {

/// Looks for the search's metric in a program's output while nothing reports it: the most common
/// mistake is a printed metric that no pattern reads. Looks only at the first 10,000 lines.
class UnreadMetric {
 public:
  /// "": looks for nothing.
  explicit UnreadMetric(std::string metric) : metric_(std::move(metric)), done_(metric_.empty()) {}

  [[nodiscard]] bool done() const noexcept { return done_; }
  /// A report of the program: a metric with the same words ends the search, because it is read.
  void hear(const ProgramMessage& message);
  void look_at(std::string_view line);  ///< A line that is no report. Cost: linear in its length.

  /// The finding, once: after the 20th such line, or when the program has `ended`. A program may print
  /// a value before it reports it.
  [[nodiscard]] std::optional<UnreadMessage> take_finding(bool ended);

 private:
  std::string metric_;
  bool done_;
  std::size_t lines_ = 0;
  std::size_t matches_ = 0;
  std::optional<UnreadMessage> found_;
  std::optional<patterns::MetricPattern> pattern_;  ///< The pattern for the finding.
};

}  // namespace hpsearch::workers
