#pragma once

#include <string>

#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::cli {

/// A table of the searched hyperparameters, one per line, with their ranges as values ("0.0001 to 0.1,
/// logarithmic"), a line that counts the constants, and one with the share that satisfies the conditions; ""
/// for a space without leaves.
[[nodiscard]] std::string space_table(const engine::Space& space);

}  // namespace hpsearch::cli
