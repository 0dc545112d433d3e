#pragma once

#include <cstdint>

#include "cli/client/server.hpp"
#include "cli/render/output.hpp"

namespace hpsearch::cli {

/// Shows one trial: where it is, each attempt with its node and how it ended, and the end of the log of the
/// last attempt that failed.
[[nodiscard]] int show_trial(const Server& server, std::uint64_t experiment, std::uint64_t trial,
                             const Output& output);

}  // namespace hpsearch::cli
