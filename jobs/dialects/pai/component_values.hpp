#pragma once

#include <optional>
#include <string>

#include "fields/sections.hpp"
#include "hpsearch/jobs/dialects/component.hpp"

namespace hpsearch::jobs {

/// The value in the parameter's type; nothing when it is of another.
[[nodiscard]] std::optional<Value> as_type(const Value& value, ComponentType type);

/// Whether a parameter may be this value, whatever its pattern says.
[[nodiscard]] bool allows(const ComponentParameter& parameter, const Value& value);

/// "Float from 0.0001 to 1", "String: one of "sgd", "adam"": the ends of sentences about what is allowed.
[[nodiscard]] std::string described(const ComponentParameter& parameter);

}  // namespace hpsearch::jobs
