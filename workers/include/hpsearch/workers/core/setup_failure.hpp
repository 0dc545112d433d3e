#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hpsearch::workers {

/// The beginning of the last output line of a program that could not start because its context's requirements
/// could not be installed. The script that installs them prints it (node_setup.cpp).
inline constexpr std::string_view requirements_failed = "hpsearch: requirements.txt could not be installed";

/// The message of such an exit, with pip's last error: "requirements.txt could not be installed: No matching
/// distribution found for x==9". Nothing for other output.
[[nodiscard]] std::optional<std::string> setup_failure_of(std::string_view log_tail);

}  // namespace hpsearch::workers
