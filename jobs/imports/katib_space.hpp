#pragma once

#include <string>

#include "imports/draft.hpp"

namespace hpsearch::jobs {

/// "--lr" → "lr": older experiments name parameters like the options of their program.
[[nodiscard]] std::string name_without_hyphens(std::string name);

/// Adds the hyperparameter of one entry of `spec.parameters`, which is at the path `at`. Returns its name as
/// the file spells it; "" if it has none.
std::string read_katib_parameter(const Value& parameter, const std::string& at, Draft& draft);

}  // namespace hpsearch::jobs
