#include "hpsearch/workers/shell/shim/metric_scanner.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/experiment/absent_metric.hpp"
#include "hpsearch/jobs/patterns/metric_pattern.hpp"
#include "hpsearch/workers/core/log_text.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Units;

struct MetricScanner::Pattern {
  std::string metric;
  patterns::MetricPattern pattern;
  std::string text;
  std::uint64_t step = 0;  ///< Counted if the pattern has no group for it.
  bool flagged = false;    ///< It matched text that is no number, and that was noted.
  bool doubted = false;    ///< It may match another number than intended, and that was noted.
  std::optional<std::string> epoch = std::nullopt;  ///< The epoch in the line of the last match.
};

namespace {

constexpr std::size_t max_quoted_bytes = 80;
constexpr std::size_t max_line_bytes = 160;

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
         c == '.' || c == '/';
}

/// The word before `end`, which blanks and signs may follow; "" = none.
std::string_view word_before(std::string_view text, std::size_t end) {
  while (end > 0 && !is_word(text[end - 1])) {
    --end;
  }
  std::size_t begin = end;
  while (begin > 0 && is_word(text[begin - 1])) {
    --begin;
  }
  return text.substr(begin, end - begin);
}

/// The literal text of a pattern before its number: without escapes, classes and repetitions.
std::string literal_before_number(std::string_view pattern) {
  const std::size_t number = std::min(pattern.find("{number}"), pattern.find("(?P<value>"));
  const std::string_view before = pattern.substr(0, std::min(number, pattern.size()));
  std::string literal;
  bool in_class = false;
  for (std::size_t at = 0; at < before.size(); ++at) {
    const char c = before[at];
    if (c == '\\') {
      ++at;
      literal += ' ';
      continue;
    }
    in_class = in_class ? c != ']' : c == '[';
    const bool repeats = c == '.' || c == '*' || c == '+' || c == '?';
    literal += in_class || c == ']' || repeats ? ' ' : c;
  }
  return literal;
}

/// Another metric to which `value` belongs, by the word before it in the line; "" = it is the pattern's own.
std::string_view other_metric(std::string_view line, std::string_view value, const std::string& metric,
                              const std::string& pattern) {
  const std::string literal = literal_before_number(pattern);
  const std::string_view wanted = word_before(literal, literal.size());
  const std::string_view there = word_before(line, static_cast<std::size_t>(value.data() - line.data()));
  const bool is_longer = !wanted.empty() && there.size() > wanted.size() && there.ends_with(wanted);
  return is_longer && !engine::names_the_same_metric(there, metric) ? there : std::string_view();
}

/// "3" of "Epoch 3/10" or "epoch: 3"; nothing if the line has none.
std::optional<std::string> epoch_of(std::string_view line) {
  constexpr std::string_view word = "poch";  // After e or E.
  const std::size_t found = line.find(word);
  if (found == std::string_view::npos) {
    return std::nullopt;
  }
  std::size_t at = found + word.size();
  while (at < line.size() && (line[at] == ' ' || line[at] == ':' || line[at] == '=' || line[at] == '[' ||
                              line[at] == '#' || line[at] == '(')) {
    ++at;
  }
  std::string number;
  for (; at < line.size() && line[at] >= '0' && line[at] <= '9'; ++at) {
    number += line[at];
  }
  return number.empty() ? std::nullopt : std::optional(number);
}

}  // namespace

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
    compiled.push_back({metric, *std::move(pattern), text, count(first_step)});
  }
  return MetricScanner(std::move(compiled));
}

std::vector<ProgramMessage> MetricScanner::scan(std::string_view printed) {
  const std::string line = without_escapes(printed);  // The number in an escape sequence is no metric.
  std::vector<ProgramMessage> messages;
  for (Pattern& pattern : patterns_) {
    const std::optional<patterns::MetricPattern::Found> found = pattern.pattern.find(line);
    if (!found) {
      continue;
    }
    const auto flag = [&](std::string_view captured, const Error& why) {
      if (!std::exchange(pattern.flagged, true)) {
        messages.emplace_back(
            UnreadableMessage{pattern.metric, beginning_of(captured, max_quoted_bytes), why.message});
      }
    };
    const Result<double> number = first_number(found->value, found->behind_value);
    if (!number) {
      flag(found->value, number.error());
      continue;
    }
    const std::string_view other = other_metric(line, found->value, pattern.metric, pattern.text);
    const std::optional<std::string> epoch = found->step ? std::nullopt : epoch_of(line);
    const bool is_again = epoch && epoch == std::exchange(pattern.epoch, epoch);
    if ((is_again || !other.empty()) && !std::exchange(pattern.doubted, true)) {
      messages.emplace_back(DoubtfulMessage{pattern.metric, beginning_of(line, max_line_bytes),
                                            beginning_of(other, max_quoted_bytes)});
    }
    if (!found->step) {
      ++pattern.step;
    } else if (const auto step = captured_step(*found->step, found->behind_step)) {
      pattern.step = count(*step);
    } else {
      flag(*found->step, step.error());
      continue;
    }
    messages.emplace_back(MetricsMessage{Units{pattern.step}, {{pattern.metric, *number}}, {}});
  }
  return messages;
}

}  // namespace hpsearch::workers
