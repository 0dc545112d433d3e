#pragma once

#include "hpsearch/jobs/engine_types.hpp"

namespace hpsearch::jobs {

/// What stands where a secret was.
inline constexpr const char* hidden_secret = "********";

/// An experiment's configuration for other eyes: keys and passwords of checkpoint storages and image
/// registries
/// (`checkpoint_storage.secret_key`, `connection_string`, `credential`; `environment.registry_auth`:
/// `password`, `auth`, `identitytoken`, `registrytoken`) are hidden. Everything else is as it was.
[[nodiscard]] Value without_secrets(Value config);

}  // namespace hpsearch::jobs
