#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "fields/sections.hpp"
#include "hpsearch/jobs/dialects/component.hpp"

namespace hpsearch::jobs {

/// Fills an experiment's tree (a map) with the declarations of its `component`: entrypoint, defaults,
/// declared ranges, how channels are passed, metrics. Filling twice changes nothing. Returns nothing if it
/// has no component. Values of the submission are converted to the component's types and bool styles.
[[nodiscard]] std::optional<Component> use_component(Value& tree, Findings& findings);

/// Checks that the component can train on the submission's resources.
void check_resources(const Component& component, const ResourcesConfig& resources, bool single_node,
                     Findings& findings);

/// Checks that the component accepts all values in the submission's space.
void check_component(const Component& component, const Space& space, Findings& findings);

}  // namespace hpsearch::jobs
