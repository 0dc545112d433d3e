#pragma once

#include <optional>
#include <string>

#include "fields/sections.hpp"
#include "hpsearch/jobs/dialects/component.hpp"

namespace hpsearch::jobs {

/// The value converted to the parameter's type; nothing if it is of another type.
[[nodiscard]] std::optional<Value> as_type(const Value& value, ComponentType type);

/// Whether the parameter allows this value, without regard to its pattern.
[[nodiscard]] bool allows(const ComponentParameter& parameter, const Value& value);

/// "Float from 0.0001 to 1", "String: one of "sgd", "adam"": the end of a sentence about the allowed values.
[[nodiscard]] std::string described(const ComponentParameter& parameter);

}  // namespace hpsearch::jobs
