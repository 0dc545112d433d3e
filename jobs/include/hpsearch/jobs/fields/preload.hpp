#pragma once

#include <string>
#include <vector>

namespace hpsearch::jobs {

/// Whether this program can import modules ahead of its trial (`environment.preload`): a function of
/// hpsearch.tune, [/PATH/OF/PYTHON, -m, hpsearch.run_function].
[[nodiscard]] bool runs_function(const std::vector<std::string>& argv) noexcept;

}  // namespace hpsearch::jobs
