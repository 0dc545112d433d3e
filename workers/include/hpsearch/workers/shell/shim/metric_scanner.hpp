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

/// Finds metrics in what a program prints anyway, for programs that know nothing of us (`metrics:` in an
/// experiment): the number and the step of each MetricPattern; without a group for it, matches are counted
/// from where the attempt started.
///
/// Cost: linear in the line's length whatever the patterns are (RE2).
class MetricScanner {
 public:
  MetricScanner(MetricScanner&&) noexcept;
  ~MetricScanner();

  /// bad_request: a pattern that RE2 does not take, or without a group; the sentence names the metric.
  [[nodiscard]] static engine::Result<MetricScanner> compile(const std::map<std::string, std::string>& texts,
                                                             engine::Units first_step);

  /// MetricsMessage for each pattern that finds a number in the line, UnreadableMessage for the first thing
  /// that a pattern finds and that holds none, and DoubtfulMessage. A terminal's escape sequences are no part
  /// of the line.
  [[nodiscard]] std::vector<ProgramMessage> scan(std::string_view printed);

 private:
  struct Pattern;
  explicit MetricScanner(std::vector<Pattern> patterns);
  std::vector<Pattern> patterns_;
};

}  // namespace hpsearch::workers
