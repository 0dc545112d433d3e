#pragma once

#include <string>
#include <vector>

namespace hpsearch::engine {

/// One thing wrong with what a user wrote, at a dotted path ("searcher.max_trials",
/// "hyperparameters.lr.vals[2]"). Whoever read the text knows the file and the line of that path.
struct Problem {
  std::string path;
  std::string what;     ///< What is wrong, with the value: "is -3".
  std::string allowed;  ///< What would be right: "an integer of at least 1". May be empty.
};

using Problems = std::vector<Problem>;

/// "path: what (allowed)", one line: control characters are shown as "?".
[[nodiscard]] std::string describe(const Problem& problem);

}  // namespace hpsearch::engine
