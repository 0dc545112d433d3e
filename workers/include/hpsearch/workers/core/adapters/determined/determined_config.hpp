#pragma once

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::workers {

/// The path at which a harness looks for its checkpoint storage. It is built into the Determined package.
inline constexpr const char* determined_storage_path = "/determined_shared_fs";

/// An effective experiment (engine::to_value) in the form that the Determined 0.24 harness reads: with every
/// default of that release, because the harness has no fallbacks, and with checkpoints in
/// determined_storage_path, from which they become this trial's checkpoints in any storage.
[[nodiscard]] engine::Value determined_config(const engine::Value& effective);

}  // namespace hpsearch::workers
