#pragma once

#include <string>

namespace hpsearch::files {

/// Reads a secret: one line of the standard input, without its end, at most 4096 bytes of it. On a terminal
/// the prompt is shown on the standard error, and the typed characters are not.
[[nodiscard]] std::string read_hidden_line(const char* prompt);

}  // namespace hpsearch::files
