#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/workers/core/program_message.hpp"

namespace hpsearch::workers {

/// Finds metrics in the output of programs that don't use hpsearch (`metrics:` in an
/// experiment): the number and the step of each MetricPattern; if a pattern has no group for the step,
/// matches are counted from the start of the attempt.
///
/// Cost: linear in the line's length for every pattern (RE2).
class MetricScanner {
 public:
  MetricScanner(MetricScanner&&) noexcept;
  ~MetricScanner();

  /// bad_request: RE2 rejects a pattern, or a pattern has no group; the sentence names the metric.
  [[nodiscard]] static engine::Result<MetricScanner> compile(const std::map<std::string, std::string>& texts,
                                                             engine::Units first_step);

  /// MetricsMessage for each pattern that finds a number in the line, UnreadableMessage for the first match
  /// of a pattern that is no number, and DoubtfulMessage. A terminal's escape sequences don't belong to the
  /// line.
  [[nodiscard]] std::vector<ProgramMessage> scan(std::string_view printed);

 private:
  struct Pattern;
  explicit MetricScanner(std::vector<Pattern> patterns);
  std::vector<Pattern> patterns_;
};

}  // namespace hpsearch::workers
