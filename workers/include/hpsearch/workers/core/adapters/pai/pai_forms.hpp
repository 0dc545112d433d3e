#pragma once

#include <map>
#include <string>

#include "hpsearch/workers/core/launch/hyperparameter_forms.hpp"

namespace hpsearch::workers {

// The hyperparameters of one trial in PAI's forms. Names or values that these can't carry are left out.

[[nodiscard]] std::string pai_user_args(const HyperparameterForms& forms);             ///< PAI_USER_ARGS
[[nodiscard]] std::string pai_hps(const HyperparameterForms& forms, bool as_strings);  ///< PAI_HPS

/// PAI_HPS_<NAME>
[[nodiscard]] std::map<std::string, std::string> pai_variables(const HyperparameterForms& forms);

/// hyperparameters.json: every value as text, the same as in PAI_HPS_<NAME>.
[[nodiscard]] inline std::string pai_hyperparameters_json(const HyperparameterForms& forms) {
  return pai_hps(forms, true);
}

}  // namespace hpsearch::workers
