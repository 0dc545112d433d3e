#pragma once

#include <string>
#include <vector>

namespace hpsearch::jobs {

/// The environment variable of a program whose worker starts the interpreters of its trials ahead of them; it
/// holds the modules that these import (`environment.preload` of its experiment), with commas between them.
inline constexpr const char* preload_variable = "HPSEARCH_PRELOAD";

/// Whether this is the program that can be started so, a function of hpsearch.tune:
/// [/PATH/OF/PYTHON, -m, hpsearch.run_function].
[[nodiscard]] bool runs_function(const std::vector<std::string>& argv) noexcept;

}  // namespace hpsearch::jobs
