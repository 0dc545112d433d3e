#pragma once

#include <cstddef>
#include <string>

#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::cli {

/// The range of a leaf in words: "0.0001 to 0.1, logarithmic; only when optimizer is adam". A constant is its
/// value.
[[nodiscard]] std::string range_in_words(const engine::Space& space, std::size_t leaf);

/// A table of the searched hyperparameters, one per line, with their ranges as values ("0.0001 to 0.1,
/// logarithmic"), a line that counts the constants, and one with the share that satisfies the conditions; ""
/// for a space without leaves.
[[nodiscard]] std::string space_table(const engine::Space& space);

}  // namespace hpsearch::cli
