#pragma once

#include <cstdint>
#include <string>

#include "cli/failure.hpp"

namespace hpsearch::cli {

/// As users of Determined know it.
inline constexpr std::uint64_t default_context_megabytes = 95;

/// Looks at what every trial will get a copy of: what the context's ignore file leaves, links as such. A usage
/// failure when that is more than `megabytes` (of 10^6 bytes); it names the largest files.
[[nodiscard]] Outcome<engine::Done> check_context_size(const std::string& directory, std::uint64_t megabytes);

}  // namespace hpsearch::cli
