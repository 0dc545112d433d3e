#pragma once

namespace hpsearch::cli {

/// The whole program: reads the arguments, does what the verb says, returns the exit status.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace hpsearch::cli
