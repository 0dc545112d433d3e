#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "fields/sections.hpp"
#include "hpsearch/jobs/dialects/component.hpp"

namespace hpsearch::jobs {

/// Fills an experiment's tree (a map) with what its `component` declares: entrypoint, defaults, declared
/// ranges, how channels are passed, metrics. Filling twice changes nothing more. Nothing when it has none.
/// Values of a submission are brought to the types and bool styles that the component declares for them.
[[nodiscard]] std::optional<Component> use_component(Value& tree, Findings& findings);

/// The resources of a submission have to be what the component can train on.
void check_resources(const Component& component, const ResourcesConfig& resources, bool single_node,
                     Findings& findings);

/// What the space of a submission holds has to be what the component takes.
void check_component(const Component& component, const Space& space, Findings& findings);

}  // namespace hpsearch::jobs
