#pragma once

#include <string>
#include <vector>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/api/experiments.hpp"

namespace hpsearch::cli {

/// "1. 0.95 ± 0.0125 (3 trainings), first trial 17", for each entry of an experiment's `finalists`.
[[nodiscard]] std::vector<std::string> finalist_lines(const std::vector<api::Finalist>& finalists);

}  // namespace hpsearch::cli
