#pragma once

#include <string_view>

namespace hpsearch::net {

enum class Level { debug, info, warning, error };

/// Lines below this level are not written. "debug", "info", "warning" or "error"; false for another word.
bool set_log_level(std::string_view name) noexcept;

/// One line on stderr: time, level, program, message. Safe from any thread.
void log(Level level, std::string_view message) noexcept;

}  // namespace hpsearch::net
