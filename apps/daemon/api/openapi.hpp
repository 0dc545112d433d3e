#pragma once

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon {

/// The description of the HTTP API as an OpenAPI 3.1 document, from the table of routes (all_routes) and the
/// schemas (all_schemas). It leaves out pages and routes that only workers use. Each call returns the same
/// document.
[[nodiscard]] engine::Value api_description();

}  // namespace hpsearch::daemon
