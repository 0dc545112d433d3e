#pragma once

namespace hpsearch::workers {

/// In a container the worker may be the first process. Then the kernel gives it the orphans of all programs,
/// and ignores signals that it does not handle. So the first process becomes an init: it starts the worker as
/// its child, hands signals on to it, reaps orphans, and ends with the worker's exit code. Returns in the
/// child, or at once if this is not the first process. Call it before there are threads.
void become_init_if_first();

}  // namespace hpsearch::workers
