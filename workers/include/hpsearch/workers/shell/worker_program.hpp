#pragma once

namespace hpsearch::workers {

/// hpsearch-worker: reads the arguments, runs trials until it is asked to stop, returns the exit status. Call
/// it once in a process.
[[nodiscard]] int run_worker_program(int argc, char** argv);

}  // namespace hpsearch::workers
