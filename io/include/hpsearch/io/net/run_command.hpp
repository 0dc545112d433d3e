#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace hpsearch::net {

/// The answer of a command of another scheduler.
struct CommandAnswer {
  bool ran = false;    ///< False: it could not be started, or did not end in time; `errors` says why.
  int status = 0;      ///< Its exit status; 128 + N for signal N.
  std::string output;  ///< At most most_command_output bytes.
  std::string errors;  ///< The same of its standard error.

  bool is_missing = false;  ///< It could not be started, so that it did nothing.

  [[nodiscard]] bool succeeded() const noexcept { return ran && status == 0; }
  /// It said no, or there is no such program. If it is neither this nor succeeded(), it may have done its
  /// work.
  [[nodiscard]] bool was_refused() const noexcept;
  /// The first line of what it wrote to its standard error, for people.
  [[nodiscard]] std::string complaint() const;
};

inline constexpr std::size_t most_command_output = std::size_t{16} * 1024 * 1024;

/// Runs a program without a shell, in the C locale; it is killed after `limit`. Blocks: for threads beside
/// the loop. `variables`: "NAME=VALUE" for it beside our own. It reads `input`, at most most_command_input
/// bytes.
[[nodiscard]] CommandAnswer run_command(const std::vector<std::string>& words, std::chrono::seconds limit,
                                        const std::vector<std::string>& variables = {},
                                        std::string_view input = {});

}  // namespace hpsearch::net
