#include "hpsearch/patterns/pattern_check.hpp"

#include <re2/re2.h>

#include <string>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/patterns/metric_pattern.hpp"

namespace hpsearch::patterns {

using engine::PatternUse;
using engine::Problem;
using engine::Problems;

namespace {

std::string quoted(const std::string& text) {
  return engine::compact_json(engine::Value(text));
}

void check_metric(const PatternUse& use, Problems& problems) {
  if (const auto pattern = MetricPattern::compile(use.pattern); !pattern) {
    problems.push_back({use.path, "is " + quoted(use.pattern) + ", which " + pattern.error().message,
                        "a regular expression (RE2) with a group around the number"});
  }
}

void check_values(const PatternUse& use, Problems& problems) {
  const re2::RE2 expression(use.pattern, re2::RE2::Quiet);
  if (!expression.ok()) {
    problems.push_back({use.path, "is " + quoted(use.pattern) + ", which cannot be used: " + expression.error(),
                        "a regular expression (RE2)"});
    return;
  }
  for (const PatternUse::Text& one : use.texts) {
    if (!re2::RE2::PartialMatch(one.text, expression)) {
      problems.push_back({one.path, "is " + quoted(one.text),
                          "a text in which the pattern " + quoted(use.pattern) + " is found"});
    }
  }
}

}  // namespace

Problems problems_of(std::span<const PatternUse> uses) {
  Problems problems;
  for (const PatternUse& use : uses) {
    switch (use.purpose) {
      case engine::PatternPurpose::metric:
        check_metric(use, problems);
        break;
      case engine::PatternPurpose::value:
        check_values(use, problems);
        break;
    }
  }
  return problems;
}

}  // namespace hpsearch::patterns
