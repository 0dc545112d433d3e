#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace hpsearch::net {

enum class Level { debug, info, warning, error };

/// Lines below this level are not written. "debug", "info", "warning" or "error"; false for another word.
bool set_log_level(std::string_view name) noexcept;

/// One line on stderr: time, level, program, message. Safe from any thread.
void log(Level level, std::string_view message) noexcept;

/// How many lines this process has logged, by level. Any thread.
[[nodiscard]] std::array<std::pair<std::string_view, std::uint64_t>, 4> logged_lines() noexcept;

}  // namespace hpsearch::net
