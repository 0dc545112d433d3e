#pragma once

#include <string>

#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::sentences {

/// "promoted; rank 3 of 17 at rung 1 (keeps the best 4, cut-off 0.912)".
[[nodiscard]] std::string describe(const engine::Reason& reason);

/// Only the numbers: "rank 3 of 17 at rung 1 (keeps the best 4, cut-off 0.912)"; "" if there are none.
[[nodiscard]] std::string describe_rank(const engine::Reason& reason);

}  // namespace hpsearch::sentences
