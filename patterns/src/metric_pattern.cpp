#include "hpsearch/patterns/metric_pattern.hpp"

#include <re2/re2.h>

#include <map>
#include <utility>
#include <vector>

namespace hpsearch::patterns {

using engine::Errc;
using engine::Error;
using engine::Result;

struct MetricPattern::Compiled {
  explicit Compiled(const std::string& text) : expression(text, re2::RE2::Quiet) {}
  re2::RE2 expression;
  int value_group = 1;
  int step_group = 0;  ///< 0 = none.
};

MetricPattern::MetricPattern(std::unique_ptr<const Compiled> compiled) noexcept : compiled_(std::move(compiled)) {}
MetricPattern::MetricPattern(MetricPattern&&) noexcept = default;
MetricPattern& MetricPattern::operator=(MetricPattern&&) noexcept = default;
MetricPattern::~MetricPattern() = default;

Result<MetricPattern> MetricPattern::compile(const std::string& text) {
  auto compiled = std::make_unique<Compiled>(text);
  const re2::RE2& expression = compiled->expression;
  if (!expression.ok()) {
    return Error{Errc::bad_request, "cannot be used: " + expression.error()};
  }
  const std::map<std::string, int>& names = expression.NamedCapturingGroups();
  if (const auto step = names.find("step"); step != names.end()) {
    compiled->step_group = step->second;
  }
  if (const auto value = names.find("value"); value != names.end()) {
    compiled->value_group = value->second;
  } else {
    compiled->value_group = compiled->step_group == 1 ? 2 : 1;
  }
  if (expression.NumberOfCapturingGroups() < compiled->value_group) {
    return Error{Errc::bad_request, "has no group around the number; write for example (?P<value>[-+0-9.eE]+)"};
  }
  return MetricPattern(std::move(compiled));
}

std::optional<MetricPattern::Found> MetricPattern::find(std::string_view line) const {
  const re2::RE2& expression = compiled_->expression;
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(expression.NumberOfCapturingGroups()) + 1);
  if (!expression.Match(re2::StringPiece(line.data(), line.size()), 0, line.size(), re2::RE2::UNANCHORED,
                        groups.data(), static_cast<int>(groups.size()))) {
    return std::nullopt;
  }
  const auto text_of = [&groups](int group) {
    const re2::StringPiece& piece = groups[static_cast<std::size_t>(group)];
    return std::string_view(piece.data(), piece.size());
  };
  Found found{.value = text_of(compiled_->value_group), .step = std::nullopt};
  if (compiled_->step_group != 0) {
    found.step = text_of(compiled_->step_group);
  }
  return found;
}

}  // namespace hpsearch::patterns
