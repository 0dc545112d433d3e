#pragma once

#include <string>

#include "hpsearch/engine/engine.hpp"

namespace hpsearch::engine {

/// "" or the first promise the engine's state breaks: limits exact, one owner per trial, ledgers and counters
/// that add up, progress in [0, 1].
[[nodiscard]] std::string broken_invariant(const Engine& engine);

/// Everything an engine knows as text: two engines that stand at the same place print the same.
[[nodiscard]] std::string fingerprint(const Engine& engine);

}  // namespace hpsearch::engine
