#include "expression.hpp"

#include <re2/re2.h>

namespace hpsearch::patterns {
namespace {

// Bounds the size of the compiled program (some thousand instructions) and so the time, which can grow with
// its square: with RE2's default of 8 MiB, a pattern of 1,000 bytes takes up to 0.5 s. Patterns of real
// metrics have less than 100 instructions and are matched as fast as with the default.
constexpr int most_memory = 64 * 1024;

}  // namespace

std::unique_ptr<const re2::RE2> compile_expression(const std::string& pattern) {
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_max_mem(most_memory);
  return std::make_unique<const re2::RE2>(pattern, options);
}

}  // namespace hpsearch::patterns
