#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "config/reader.hpp"
#include "hpsearch/engine/config/component.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {

/// By whose rules something is read. What an older version took stays readable, and means what it meant; who
/// submits today is held to today's rules.
enum class Reading : std::uint8_t { stored, submitted };

/// parse_component is the same for `submitted`.
[[nodiscard]] ParsedComponent read_component(const Value& tree, std::string_view at, Reading reading);

/// parse_config is the same for `stored`, parse_submission the rest for `submitted`.
[[nodiscard]] ParsedConfig read_config(const Value& tree, SearcherRegistry registry,
                                       std::string_view fallback_name, std::uint64_t seed, Reading reading);

/// Fills an experiment's tree (a map) with what its `component` declares: entrypoint, defaults, declared
/// ranges, how channels are passed, metrics. Filling twice changes nothing more. Nothing when it has none.
/// Values of a submission are brought to the types and bool styles that the component declares for them.
[[nodiscard]] std::optional<Component> use_component(Value& tree, Reading reading, Findings& findings);

/// The resources of a submission have to be what the component can train on.
void check_resources(const Component& component, const ResourcesConfig& resources, Findings& findings);

/// What the space of a submission holds has to be what the component takes.
void check_component(const Component& component, const Space& space, Findings& findings);

}  // namespace hpsearch::engine
