#pragma once

#include <string>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// Whether a file that says who may use the daemon can be believed: it belongs to this user or to root, and
/// nobody else may write it. A file that is not there is fine. corrupt: it can't; the message says what to
/// do.
[[nodiscard]] engine::Status check_written_by_owner_alone(const std::string& path);

}  // namespace hpsearch::daemon
