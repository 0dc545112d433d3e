#pragma once

#include "experiment/engine_state.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::engine {

/// The fold of the events so far as one value. What follows from it (indexes, the agenda) is not in it.
[[nodiscard]] Value save_state(const EngineState& state);

/// The inverse, into a world that knows its registry and nothing else. corrupt: the value is no such save;
/// version_mismatch: a newer build wrote it. The world is useless then.
[[nodiscard]] Status load_state(const Value& saved, EngineState& state);

}  // namespace hpsearch::engine
