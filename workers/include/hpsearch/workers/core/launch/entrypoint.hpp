#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/workers/core/launch/attempt_places.hpp"
#include "hpsearch/workers/core/launch/hyperparameter_forms.hpp"

namespace hpsearch::workers {

/// The argv of an entrypoint with its placeholders replaced: a list's items in place, a line as one word per
/// value for `sh -c`.
///
/// bad_request: it is empty, or has a placeholder that names nothing.
[[nodiscard]] engine::Result<std::vector<std::string>> expand_entrypoint(const jobs::LaunchSpec& spec,
                                                                         const HyperparameterForms& forms,
                                                                         const AttemptPlaces& places);

}  // namespace hpsearch::workers
