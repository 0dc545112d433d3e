#include "hpsearch/workers/shell/metric_scanner.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/patterns/metric_pattern.hpp"
#include "hpsearch/workers/core/log_text.hpp"
#include "hpsearch/workers/core/program_message.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Units;

struct MetricScanner::Pattern {
  std::string metric;
  patterns::MetricPattern pattern;
  std::uint64_t step = 0;  ///< Counted where the pattern has no group for it.
  bool flagged = false;    ///< It found something that is no number, and somebody was told.
};

MetricScanner::MetricScanner(std::vector<Pattern> patterns) : patterns_(std::move(patterns)) {
}
MetricScanner::MetricScanner(MetricScanner&&) noexcept = default;
MetricScanner::~MetricScanner() = default;

Result<MetricScanner> MetricScanner::compile(const std::map<std::string, std::string>& texts,
                                             Units first_step) {
  std::vector<Pattern> compiled;
  for (const auto& [metric, text] : texts) {
    Result<patterns::MetricPattern> pattern = patterns::MetricPattern::compile(text);
    if (!pattern) {
      return Error{Errc::bad_request, "metrics." + metric + ": the regular expression " +
                                          engine::compact_json(text) + " " + pattern.error().message};
    }
    compiled.push_back({metric, *std::move(pattern), count(first_step)});
  }
  return MetricScanner(std::move(compiled));
}

std::vector<std::string> MetricScanner::scan(std::string_view printed) {
  const std::string line = without_escapes(printed);  // A colour's number is nobody's metric.
  std::vector<std::string> payloads;
  for (Pattern& pattern : patterns_) {
    const std::optional<patterns::MetricPattern::Found> found = pattern.pattern.find(line);
    if (!found) {
      continue;
    }
    const auto flag = [&](std::string_view captured, const Error& why) {
      if (!std::exchange(pattern.flagged, true)) {
        payloads.push_back(unreadable_payload(pattern.metric, captured, why.message));
      }
    };
    const Result<double> number = first_number(found->value, found->behind_value);
    if (!number) {
      flag(found->value, number.error());
      continue;
    }
    if (!found->step) {
      ++pattern.step;
    } else if (const auto step = captured_step(*found->step, found->behind_step)) {
      pattern.step = count(*step);
    } else {
      flag(*found->step, step.error());
      continue;
    }
    payloads.push_back(metric_payload(pattern.metric, Units{pattern.step}, *number));
  }
  return payloads;
}

}  // namespace hpsearch::workers
