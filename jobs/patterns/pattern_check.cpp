#include "hpsearch/jobs/patterns/pattern_check.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "hpsearch/engine/base/text.hpp"
#include "patterns/expression.hpp"
#include "patterns/metric_groups.hpp"

namespace hpsearch::patterns {

using engine::Problems;
using jobs::PatternUse;

namespace {

std::string quoted(const std::string& text) {
  return engine::compact_json(engine::Value(text));
}

// Compiling costs about a microsecond for each instruction, and more for a pattern that is too
// large. The patterns of one file may cost at most a few tenths of a second.
constexpr int most_instructions = 100'000;
constexpr int instructions_of_too_large = 15'000;

// Matching costs some nanoseconds for each instruction and byte.
constexpr std::size_t most_steps = 50'000'000;

int instructions(const re2::RE2& expression) {
  if (expression.ok()) {
    return expression.ProgramSize();
  }
  return expression.error_code() == re2::RE2::ErrorPatternTooLarge ? instructions_of_too_large : 0;
}

void check_metric(const PatternUse& use, const re2::RE2& expression, Problems& problems) {
  if (const auto groups = metric_groups(expression); !groups) {
    problems.push_back({use.path, "is " + quoted(use.pattern) + ", which " + groups.error().message,
                        "a regular expression (RE2) with {number} where the number stands"});
  }
}

/// `left`: the steps of most_steps that are left.
void check_values(const PatternUse& use, const re2::RE2& expression, std::size_t& left, Problems& problems) {
  if (!expression.ok()) {
    problems.push_back({use.path,
                        "is " + quoted(use.pattern) + ", which cannot be used: " + expression.error(),
                        "a regular expression (RE2)"});
    return;
  }
  for (const PatternUse::Text& one : use.texts) {
    const std::size_t steps =
        static_cast<std::size_t>(std::max(expression.ProgramSize(), 1)) * (one.text.size() + 1);
    if (steps > left) {
      problems.push_back({one.path, "takes too long to be looked at with the pattern " + quoted(use.pattern),
                          "a simpler pattern, or a shorter text"});
      return;
    }
    left -= steps;
    if (!re2::RE2::PartialMatch(one.text, expression)) {
      problems.push_back({one.path, "is " + quoted(one.text),
                          "a text in which the pattern " + quoted(use.pattern) + " is found"});
    }
  }
}

}  // namespace

Problems problems_of(std::span<const PatternUse> uses) {
  Problems problems;
  int left = most_instructions;
  std::size_t steps_left = most_steps;
  for (const PatternUse& use : uses) {
    if (left < 0) {
      problems.push_back(
          {use.path, "stands after patterns that take too long to read together", "simpler patterns"});
      break;
    }
    if (use.pattern.size() > most_pattern_bytes) {
      problems.push_back({use.path, "has " + std::to_string(use.pattern.size()) + " bytes",
                          "a pattern of at most " + std::to_string(most_pattern_bytes) + " bytes"});
      continue;
    }
    const std::unique_ptr<const re2::RE2> compiled = compile_expression(
        use.purpose == jobs::PatternPurpose::metric ? metric_expression(use.pattern) : use.pattern);
    const re2::RE2& expression = *compiled;
    left -= instructions(expression);
    switch (use.purpose) {
      case jobs::PatternPurpose::metric:
        check_metric(use, expression, problems);
        break;
      case jobs::PatternPurpose::value:
        check_values(use, expression, steps_left, problems);
        break;
    }
  }
  return problems;
}

}  // namespace hpsearch::patterns
