#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hpsearch::workers {

/// The last line of a program's output begins so when it never began, because its context's requirements
/// could not be installed. Written by the script that installs them (node_setup.cpp).
inline constexpr std::string_view requirements_failed = "hpsearch: requirements.txt could not be installed";

/// The message of the exit then, with pip's last error: "requirements.txt could not be installed: No matching
/// distribution found for x==9". Nothing for every other output.
[[nodiscard]] std::optional<std::string> setup_failure_of(std::string_view log_tail);

}  // namespace hpsearch::workers
