#pragma once

namespace hpsearch::workers {

/// hpsearch-determined: runs the Determined harness that the environment describes, to its end, and returns
/// the exit status. It takes no arguments: `argc` must be 1. Once in a process.
[[nodiscard]] int run_harness_program(int argc);

}  // namespace hpsearch::workers
