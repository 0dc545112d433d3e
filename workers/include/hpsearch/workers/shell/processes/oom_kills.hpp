#pragma once

#include <cstdint>

namespace hpsearch::workers {

/// How many processes the kernel has ended so far because memory was used up: in this process's memory cgroup
/// (version 2 or 1), which is that of its programs too; where that cannot be read, on the whole machine. Only
/// that it grows means something.
[[nodiscard]] std::uint64_t oom_kills();

}  // namespace hpsearch::workers
