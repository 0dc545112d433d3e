#pragma once

namespace hpsearch::net {

/// The kernel writes no core file of this process and of those that it starts: their memory has tokens, keys
/// and secrets of experiments.
void forbid_core_files() noexcept;

}  // namespace hpsearch::net
