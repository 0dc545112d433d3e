#pragma once

#include <string>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::files {

/// The text of a file that may hold secrets. unavailable: it can't be read; wrong_state: other users of this
/// machine may use it.
[[nodiscard]] engine::Result<std::string> read_private_file(const std::string& path);

}  // namespace hpsearch::files
