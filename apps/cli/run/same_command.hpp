#pragma once

#include <string>
#include <vector>

namespace hpsearch::cli {

/// The words as one line for a shell.
[[nodiscard]] std::string command_text(const std::vector<std::string>& words);

/// The command that continues a search: as it was typed, quoted for a shell, without --fresh and
/// --with-new-program. `with`: an option to add.
[[nodiscard]] std::string same_command(std::vector<std::string> command, const std::string& with = "");

}  // namespace hpsearch::cli
