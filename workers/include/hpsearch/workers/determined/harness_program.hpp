#pragma once

namespace hpsearch::workers {

/// hpsearch-determined: runs the Determined harness that the environment describes, until it ends, and
/// returns the exit status. It takes no arguments: `argc` must be 1. Call it once in a process.
[[nodiscard]] int run_harness_program(int argc);

}  // namespace hpsearch::workers
