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

/// Looks in what a program prints for its search's metric, as long as nothing reports it: the commonest
/// mistake is a metric that is printed and that no pattern reads. Looks at the first 10,000 lines only.
class UnreadMetric {
 public:
  /// "": looks for nothing.
  explicit UnreadMetric(std::string metric) : metric_(std::move(metric)), done_(metric_.empty()) {}

  [[nodiscard]] bool done() const noexcept { return done_; }
  /// What the program reported: a metric with the same words ends the search for it, since it is read then.
  void hear(const ProgramMessage& message);
  void look_at(std::string_view line);  ///< One that is no report. Cost: linear in its length.

  /// What to tell the agent, once: after the 20th such line, or when the program `ended`. A program may print
  /// a value before it reports it.
  [[nodiscard]] std::optional<UnreadMessage> take_finding(bool ended);

 private:
  std::string metric_;
  bool done_;
  std::size_t lines_ = 0;
  std::size_t matches_ = 0;
  std::optional<UnreadMessage> found_;
  std::optional<patterns::MetricPattern> pattern_;  ///< Of what was found.
};

}  // namespace hpsearch::workers
