#include "hpsearch/engine/base/problem.hpp"

namespace hpsearch::engine {

std::string describe(const Problem& problem) {
  std::string text;
  if (!problem.path.empty()) {
    text += problem.path;
    text += ": ";
  }
  text += problem.what;
  if (!problem.allowed.empty()) {
    text += " (";
    text += problem.allowed;
    text += ')';
  }
  return text;
}

}  // namespace hpsearch::engine
