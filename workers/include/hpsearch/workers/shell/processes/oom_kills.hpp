#pragma once

#include <cstdint>

namespace hpsearch::workers {

/// How many processes the kernel has killed so far for lack of memory: in this process's memory cgroup
/// (version 2 or 1), which its programs share; if that can't be read, on the whole machine. Only
/// an increase is meaningful.
[[nodiscard]] std::uint64_t oom_kills();

}  // namespace hpsearch::workers
