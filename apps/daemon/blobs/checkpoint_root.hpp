#pragma once

#include <cstdint>
#include <string>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// Prepares the directory for checkpoints of experiments that name no storage: `usual`, in the state
/// directory, or a directory of the store's own in `given`, which other stores may use too. Marks it as the
/// store's, so that workers can distinguish it from another directory of that name
/// (proto/wire/checkpoint_owner.hpp).
///
/// bad_request: `given` is not an absolute path, or not a directory; it is not created, because it may be the
/// mount point of a missing mount. unavailable: it cannot be written. Without `given` such a failure is only
/// logged: the disk may be full.
[[nodiscard]] engine::Result<std::string> prepare_checkpoint_root(const std::string& given,
                                                                  const std::string& usual,
                                                                  std::uint64_t store);

}  // namespace hpsearch::daemon
