#pragma once

#include <optional>

#include "config/reader.hpp"
#include "hpsearch/engine/config/component.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {

/// Fills an experiment's tree (a map) with what its `component` declares: entrypoint, defaults, declared
/// ranges, how channels are passed, metrics. Filling twice changes nothing more. Nothing when it has none.
[[nodiscard]] std::optional<Component> use_component(Value& tree, Findings& findings);

/// What the space holds has to be what the component takes.
void check_component(const Component& component, const Space& space, Findings& findings);

}  // namespace hpsearch::engine
