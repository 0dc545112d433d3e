#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::workers {

/// Starts a program that writes to the descriptor `out`, without a shell, and has no other of this process's
/// files. In a session of its own, it doesn't get a terminal's signals to the worker, and kill(-pid) reaches
/// what it started, too. 0 if it can't be started.
[[nodiscard]] pid_t spawn_tool(const std::vector<std::string>& command, int out, bool in_own_session);

struct ToolLimits {
  std::chrono::milliseconds time{10'000};
  std::size_t bytes = std::size_t{1024} * 1024;
};

/// The standard output of a program that exits with 0. unavailable: it can't be started, fails, or exceeds a
/// limit, and is then killed.
[[nodiscard]] engine::Result<std::string> tool_output(const std::vector<std::string>& command,
                                                      const ToolLimits& limits = {});

}  // namespace hpsearch::workers
