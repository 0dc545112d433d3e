#pragma once

#include <cstdint>

namespace hpsearch::net {

/// Enough for ten thousand peers, or a thousand programs.
inline constexpr std::uint64_t enough_descriptors = 65'536;

/// Lets this process have as many files open as the system allows, or `most`. Where that is not enough, the
/// log says so.
void raise_descriptor_limit(std::uint64_t most = enough_descriptors);

}  // namespace hpsearch::net
