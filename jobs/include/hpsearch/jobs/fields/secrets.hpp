#pragma once

#include <functional>
#include <string>

#include "hpsearch/jobs/fields/engine_types.hpp"

namespace hpsearch::jobs {

// The secrets of an experiment's configuration: the values of `environment.environment_variables`; the fields
// `access_key`, `secret_key`, `connection_string` and `credential` of `checkpoint_storage`; and `password`,
// `auth`, `identitytoken` and `registrytoken` of `environment.registry_auth`.

/// The text that replaces a secret.
inline constexpr const char* hidden_secret = "********";

/// Returns the replacement of the secret at that path ("checkpoint_storage.secret_key").
using ReplaceSecret = std::function<Value(const std::string& path, const std::string& secret)>;

/// The configuration with each secret that is a text replaced; everything else is as it was. It may be an
/// effective tree, or a part of one.
[[nodiscard]] Value with_secrets(Value config, const ReplaceSecret& replace);

/// The configuration for readers who may not see its secrets: hidden_secret stands for each of them.
[[nodiscard]] Value without_secrets(Value config);

}  // namespace hpsearch::jobs
