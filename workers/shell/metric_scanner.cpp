#include "hpsearch/workers/shell/metric_scanner.hpp"

#include <re2/re2.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/workers/core/program_message.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Units;

struct MetricScanner::Pattern {
  std::string metric;
  std::unique_ptr<re2::RE2> expression;
  int value_group = 1;
  int step_group = 0;  ///< 0 = none: count.
  std::uint64_t step = 0;
  bool flagged = false;  ///< It found something that is no number, and somebody was told.
};

MetricScanner::MetricScanner(std::vector<Pattern> patterns) : patterns_(std::move(patterns)) {
}
MetricScanner::MetricScanner(MetricScanner&&) noexcept = default;
MetricScanner::~MetricScanner() = default;

Result<MetricScanner> MetricScanner::compile(const std::map<std::string, std::string>& patterns,
                                             Units first_step) {
  std::vector<Pattern> compiled;
  for (const auto& [metric, text] : patterns) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    Pattern pattern;
    pattern.metric = metric;
    pattern.expression = std::make_unique<re2::RE2>(text, options);
    pattern.step = count(first_step);
    const std::string what = "metrics." + metric + ": the regular expression " + engine::compact_json(text);
    if (!pattern.expression->ok()) {
      return Error{Errc::bad_request, what + " cannot be used: " + pattern.expression->error()};
    }
    const std::map<std::string, int>& names = pattern.expression->NamedCapturingGroups();
    const auto step = names.find("step");
    pattern.step_group = step == names.end() ? 0 : step->second;
    if (const auto value = names.find("value"); value != names.end()) {
      pattern.value_group = value->second;
    } else {
      pattern.value_group = pattern.step_group == 1 ? 2 : 1;
    }
    if (pattern.expression->NumberOfCapturingGroups() < pattern.value_group) {
      return Error{Errc::bad_request,
                   what + " has no group around the number; write for example (?P<value>[-+0-9.eE]+)"};
    }
    compiled.push_back(std::move(pattern));
  }
  return MetricScanner(std::move(compiled));
}

std::vector<std::string> MetricScanner::scan(std::string_view line) {
  std::vector<std::string> payloads;
  for (Pattern& pattern : patterns_) {
    std::vector<re2::StringPiece> groups(
        static_cast<std::size_t>(pattern.expression->NumberOfCapturingGroups()) + 1);
    if (!pattern.expression->Match(re2::StringPiece(line.data(), line.size()), 0, line.size(),
                                   re2::RE2::UNANCHORED, groups.data(), static_cast<int>(groups.size()))) {
      continue;
    }
    const auto text_of = [&groups](int group) {
      const re2::StringPiece& piece = groups[static_cast<std::size_t>(group)];
      return std::string_view(piece.data(), piece.size());
    };
    const std::string_view captured = text_of(pattern.value_group);
    const std::optional<double> number = first_number(captured);
    if (!number) {
      if (!std::exchange(pattern.flagged, true)) {
        payloads.push_back(unreadable_payload(pattern.metric, captured));
      }
      continue;
    }
    if (pattern.step_group == 0) {
      ++pattern.step;
    } else {
      const std::string_view text = text_of(pattern.step_group);
      if (std::from_chars(text.data(), text.data() + text.size(), pattern.step).ec != std::errc()) {
        continue;
      }
    }
    payloads.push_back(metric_payload(pattern.metric, Units{pattern.step}, *number));
  }
  return payloads;
}

}  // namespace hpsearch::workers
