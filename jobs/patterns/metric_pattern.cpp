#include "hpsearch/jobs/patterns/metric_pattern.hpp"

#include <re2/re2.h>

#include <map>
#include <utility>
#include <vector>

#include "patterns/expression.hpp"
#include "patterns/metric_groups.hpp"

namespace hpsearch::patterns {

using engine::Errc;
using engine::Error;
using engine::Result;

struct MetricPattern::Compiled {
  explicit Compiled(const std::string& text) : expression(compile_expression(metric_expression(text))) {}
  std::unique_ptr<const re2::RE2> expression;
  MetricGroups groups;
};

MetricPattern::MetricPattern(std::unique_ptr<const Compiled> compiled) noexcept
    : compiled_(std::move(compiled)) {
}
MetricPattern::MetricPattern(MetricPattern&&) noexcept = default;
MetricPattern& MetricPattern::operator=(MetricPattern&&) noexcept = default;
MetricPattern::~MetricPattern() = default;

Result<MetricGroups> metric_groups(const re2::RE2& expression) {
  if (!expression.ok()) {
    return Error{Errc::bad_request, "cannot be used: " + expression.error()};
  }
  MetricGroups groups;
  const std::map<std::string, int>& names = expression.NamedCapturingGroups();
  if (const auto step = names.find("step"); step != names.end()) {
    groups.step = step->second;
  }
  if (const auto value = names.find("value"); value != names.end()) {
    groups.value = value->second;
  } else {
    groups.value = groups.step == 1 ? 2 : 1;
  }
  if (expression.NumberOfCapturingGroups() < groups.value) {
    return Error{Errc::bad_request, "does not say where the number stands; write {number} there"};
  }
  return groups;
}

Result<MetricPattern> MetricPattern::compile(const std::string& text) {
  if (text.size() > most_pattern_bytes) {
    return Error{Errc::bad_request, "has " + std::to_string(text.size()) + " bytes; at most " +
                                        std::to_string(most_pattern_bytes) + " are possible"};
  }
  auto compiled = std::make_unique<Compiled>(text);
  const Result<MetricGroups> groups = metric_groups(*compiled->expression);
  if (!groups) {
    return groups.error();
  }
  compiled->groups = *groups;
  return MetricPattern(std::move(compiled));
}

std::optional<MetricPattern::Found> MetricPattern::find(std::string_view line) const {
  const re2::RE2& expression = *compiled_->expression;
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(expression.NumberOfCapturingGroups()) + 1);
  if (!expression.Match(re2::StringPiece(line.data(), line.size()), 0, line.size(), re2::RE2::UNANCHORED,
                        groups.data(), static_cast<int>(groups.size()))) {
    return std::nullopt;
  }
  const auto text_of = [&groups](int group) {
    const re2::StringPiece& piece = groups[static_cast<std::size_t>(group)];
    return std::string_view(piece.data(), piece.size());
  };
  const std::string_view match = text_of(0);
  // Text that the pattern itself matches after a number isn't judged.
  const auto behind = [&](std::string_view part) {
    const bool ends_the_match = part.data() + part.size() == match.data() + match.size();
    return ends_the_match ? line.substr(static_cast<std::size_t>(match.data() - line.data()) + match.size())
                          : std::string_view();
  };
  Found found{.value = text_of(compiled_->groups.value), .step = std::nullopt};
  found.behind_value = behind(found.value);
  if (compiled_->groups.step != 0) {
    found.step = text_of(compiled_->groups.step);
    found.behind_step = behind(*found.step);
  }
  return found;
}

}  // namespace hpsearch::patterns
