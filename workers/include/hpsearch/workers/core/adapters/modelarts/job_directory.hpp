#pragma once

#include <string_view>

namespace hpsearch::workers {

/// The attempt's directory that MA_JOB_DIR names; it has the code's directory, under the name that the user
/// gave it.
inline constexpr std::string_view job_directory = "input/job";  // Below the attempt's ml.

}  // namespace hpsearch::workers
