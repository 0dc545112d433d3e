#pragma once

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::workers {

/// Where a harness finds the storage of its checkpoints; the Determined package has this path built in.
inline constexpr const char* determined_storage_path = "/determined_shared_fs";

/// An effective experiment (engine::to_value) as the Determined 0.24 harness reads one: with every default of
/// that release, since it indexes without fallback, and with checkpoints on determined_storage_path, from
/// where they become this trial's checkpoints whatever the experiment's own storage is.
[[nodiscard]] engine::Value determined_config(const engine::Value& effective);

}  // namespace hpsearch::workers
