#pragma once

#include <vector>

#include "axes.hpp"
#include "hpsearch/engine/learnt.hpp"
#include "model/numeric/kernel.hpp"

namespace hpsearch::searchers::model {

/// How much each axis matters under the kernel's length scales, largest share first; ties in the order of
/// axes. O(features).
[[nodiscard]] std::vector<engine::Learnt::Importance> importance_of(const Axes& axes, const Kernel& kernel);

}  // namespace hpsearch::searchers::model
