#pragma once

#include <string_view>

namespace hpsearch::workers {

/// Directory of the attempt's that MA_JOB_DIR names; it holds the code's directory under its user's name for
/// it.
inline constexpr std::string_view job_directory = "input/job";  // Below the attempt's ml.

}  // namespace hpsearch::workers
