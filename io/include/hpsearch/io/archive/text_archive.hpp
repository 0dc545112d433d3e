#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::files {

/// A tar archive, packed with zstd, of some texts: (name, content). Its files have mode 0600 and no time, so
/// that the same texts give the same bytes. unavailable: there is no memory for it. Cost: linear.
[[nodiscard]] engine::Result<std::string> packed_texts(
    const std::vector<std::pair<std::string, std::string>>& texts);

}  // namespace hpsearch::files
