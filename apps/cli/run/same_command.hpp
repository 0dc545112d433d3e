#pragma once

#include <string>
#include <vector>

namespace hpsearch::cli {

/// The command that continues a search: as it was typed, quoted for a shell, without --fresh and
/// --with-new-program.
[[nodiscard]] std::string same_command(const std::vector<std::string>& command);

}  // namespace hpsearch::cli
