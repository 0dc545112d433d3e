#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/jobs/fields/program.hpp"

namespace hpsearch::cli {

/// The file that a program did not find, from the last such line of its output, as Python, shells and most
/// other programs write it. Pure.
[[nodiscard]] std::optional<std::string> missing_file(std::string_view log_tail);

/// The Python module that it did not find. Pure.
[[nodiscard]] std::optional<std::string> missing_module(std::string_view log_tail);

/// A verified reason why a program failed on this machine, and the remedy; "" if there is none: the file
/// exists in the context directory or beside it, but not where the program looked; another Python of this
/// machine has the module. Cost: may start a Python for a few tenths of a second.
[[nodiscard]] std::string failure_hint(std::string_view log_tail, const jobs::Program& program,
                                       const std::filesystem::path& context);

}  // namespace hpsearch::cli
