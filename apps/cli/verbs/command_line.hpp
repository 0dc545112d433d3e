#pragma once

namespace hpsearch::cli {

/// The whole program: reads the arguments, executes the command, returns the exit code.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace hpsearch::cli
