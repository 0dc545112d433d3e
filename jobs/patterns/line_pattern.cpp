#include "hpsearch/jobs/patterns/line_pattern.hpp"

#include <re2/re2.h>

#include <utility>

#include "patterns/expression.hpp"

namespace hpsearch::patterns {
namespace {

constexpr std::int64_t most_memory = std::int64_t{8} << 20U;  // RE2's default; with less a search is slower.

re2::RE2::Options options_of_a_search() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(most_memory);
  options.set_never_capture(true);
  return options;
}

}  // namespace

struct LinePattern::Compiled {
  explicit Compiled(const std::string& text) : expression(text, options_of_a_search()) {}
  re2::RE2 expression;
};

LinePattern::LinePattern(std::unique_ptr<const Compiled> compiled) noexcept : compiled_(std::move(compiled)) {
}
LinePattern::LinePattern(LinePattern&&) noexcept = default;
LinePattern& LinePattern::operator=(LinePattern&&) noexcept = default;
LinePattern::~LinePattern() = default;

engine::Result<LinePattern> LinePattern::compile(const std::string& text) {
  if (text.size() > most_pattern_bytes) {
    return engine::Error{engine::Errc::bad_request, "has " + std::to_string(text.size()) +
                                                        " bytes; at most " +
                                                        std::to_string(most_pattern_bytes) + " are possible"};
  }
  auto compiled = std::make_unique<const Compiled>(text);
  if (!compiled->expression.ok()) {
    return engine::Error{engine::Errc::bad_request, "cannot be used: " + compiled->expression.error()};
  }
  return LinePattern(std::move(compiled));
}

bool LinePattern::is_in(std::string_view line) const {
  return re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), compiled_->expression);
}

}  // namespace hpsearch::patterns
