#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/workers/core/launch/attempt_places.hpp"
#include "hpsearch/workers/core/launch/hyperparameter_forms.hpp"

namespace hpsearch::workers {

/// The argv of an entrypoint with its placeholders replaced: by values in a list, by variables in a line for
/// `sh -c`. `environment` has the program's variables; variables that the line needs are added.
///
/// bad_request: it is empty, or a placeholder has an unknown name or can't be replaced in its place.
[[nodiscard]] engine::Result<std::vector<std::string>> expand_entrypoint(
    const jobs::LaunchSpec& spec, const HyperparameterForms& forms, const AttemptPlaces& places,
    std::map<std::string, std::string>& environment);

}  // namespace hpsearch::workers
