#pragma once

#include <string>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// Checks that a file that lists who may use the daemon is trustworthy: it belongs to this user or to root,
/// and no other user may write it. A missing file is fine. corrupt: it isn't; the message contains the
/// remedy.
[[nodiscard]] engine::Status check_written_by_owner_alone(const std::string& path);

}  // namespace hpsearch::daemon
