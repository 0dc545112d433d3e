#pragma once

#include <string>

#include "hpsearch/engine/engine.hpp"

namespace hpsearch::engine {

/// "" or the first promise the engine's state breaks: limits exact, one owner per trial, ledgers and counters
/// that add up, progress in [0, 1], nothing left open in what has ended.
[[nodiscard]] std::string broken_invariant(const Engine& engine);

/// "" or the first limit that is exceeded. Holds after every event, also between those of one step; `last` is
/// that event, or nullptr after a whole step. Limits that were lowered bind what is started from then on.
[[nodiscard]] std::string broken_limit(const Engine& engine, const Event* last);

/// "" or an experiment that has work for a slot that is free. Holds after every step while nobody is suspect.
[[nodiscard]] std::string idle_slot(const Engine& engine);

}  // namespace hpsearch::engine
