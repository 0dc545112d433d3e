#pragma once

#include "experiment/world.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::engine {

/// The fold of the events so far as one value. What follows from it (indexes, the agenda) is not in it.
[[nodiscard]] Value save_world(const World& world);

/// The inverse, into a world that knows its registry and nothing else. corrupt: the value is no such save;
/// version_mismatch: a newer build wrote it. The world is useless then.
[[nodiscard]] Status load_world(const Value& saved, World& world);

}  // namespace hpsearch::engine
