#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// The differences of two trees, for users: "searcher.max_trials: 64 -> 128", "labels: removed", at most
/// `most` of them.
[[nodiscard]] std::vector<std::string> differences(const engine::Value& before, const engine::Value& after,
                                                   std::size_t most = 5);

}  // namespace hpsearch::cli
