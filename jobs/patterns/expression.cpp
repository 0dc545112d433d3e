#include "patterns/expression.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace hpsearch::patterns {
namespace {

// Limits the size of the compiled program (some thousand instructions) and so the time, which can grow with
// its square: with RE2's default of 8 MiB, a pattern of 1,000 bytes takes up to 0.5 s. Patterns of real
// metrics have less than 100 instructions and are matched as fast as with the default.
constexpr int most_memory = 64 * 1024;

// {number} matches the whole word around a number (0.91, 1,234, 92.5%, 1.5k), and the reader of the number
// decides whether it is one. So patterns needn't.
constexpr std::pair<std::string_view, std::string_view> placeholders[] = {
    {"{number}", R"((?P<value>[-+]?(?:\.?\d[\w.,'%+-]*|(?i:nan|inf(?:inity)?)\b)))"},
    {"{step}", R"((?P<step>\d+))"},
};

}  // namespace

std::string metric_expression(const std::string& pattern) {
  std::string out;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::string_view rest = std::string_view(pattern).substr(at);
    if (rest.front() == '\\') {
      out.append(rest.substr(0, 2));
      at += 2;
      continue;
    }
    const auto found = std::find_if(std::begin(placeholders), std::end(placeholders),
                                    [rest](const auto& one) { return rest.starts_with(one.first); });
    const bool is_placeholder = found != std::end(placeholders);
    out.append(is_placeholder ? found->second : rest.substr(0, 1));
    at += is_placeholder ? found->first.size() : 1;
  }
  return out;
}

std::unique_ptr<const re2::RE2> compile_expression(const std::string& pattern) {
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_max_mem(most_memory);
  return std::make_unique<const re2::RE2>(pattern, options);
}

}  // namespace hpsearch::patterns
