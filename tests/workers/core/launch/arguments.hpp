#pragma once

#include <string>
#include <vector>

#include "hpsearch/workers/core/launch/hyperparameter_forms.hpp"

namespace hpsearch::workers {

/// The words of {args} and its variants in a list.
inline std::vector<std::string> arguments(const HyperparameterForms& forms, jobs::ArgumentForm form) {
  std::vector<std::string> all;
  for (const HyperparameterForms::Hyperparameter& one : forms.all()) {
    const std::vector<std::string> words = HyperparameterForms::arguments_of(one, form);
    all.insert(all.end(), words.begin(), words.end());
  }
  return all;
}

}  // namespace hpsearch::workers
