#pragma once

#include <cstdint>
#include <string>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// Where checkpoints of experiments go that name no place: `usual`, in the state directory, or a directory of
/// the store's own in `given`, which other stores may use too. Marks it as the store's, so that workers can
/// tell it from another directory of that name (proto/wire/checkpoint_owner.hpp).
///
/// bad_request: `given` is no absolute path, or no directory; it is not made, for it may be a mount that is
/// missing. unavailable: nothing can be written there. Without `given` that is logged only: it may be a full
/// disk.
[[nodiscard]] engine::Result<std::string> prepare_checkpoint_root(const std::string& given,
                                                                  const std::string& usual,
                                                                  std::uint64_t store);

}  // namespace hpsearch::daemon
