#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace hpsearch::net {

/// The answer of a command of another scheduler.
struct CommandAnswer {
  bool ran = false;    ///< False: it could not be started, or did not end in time; `errors` says why.
  int status = 0;      ///< Its exit status; 128 + N for signal N.
  std::string output;  ///< At most most_command_output bytes.
  std::string errors;  ///< The same of its standard error.

  [[nodiscard]] bool succeeded() const noexcept { return ran && status == 0; }
  /// The first line of what it wrote to its standard error, for people.
  [[nodiscard]] std::string complaint() const;
};

inline constexpr std::size_t most_command_output = std::size_t{16} * 1024 * 1024;

/// Runs a program without a shell, in the C locale, with nothing to read; it is killed after `limit`. Blocks:
/// for threads beside the loop.
[[nodiscard]] CommandAnswer run_command(const std::vector<std::string>& words, std::chrono::seconds limit);

}  // namespace hpsearch::net
