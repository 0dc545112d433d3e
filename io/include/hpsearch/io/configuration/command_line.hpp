#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/io/configuration/option.hpp"
#include "hpsearch/io/configuration/reading.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hpsearch::configuration {

/// The flags of a program's options in a CLI::App.
///
/// Owns: nothing; the App outlives it.
class Flags {
 public:
  /// Adds a flag for each option, and --config, --no-config, --check-config, --print-config and
  /// --describe-config.
  Flags(CLI::App& app, const Program& program);

  /// After the App has parsed.
  [[nodiscard]] CommandLine taken() const;

 private:
  std::string program_;
  std::vector<std::pair<std::string, CLI::Option*>> of_options_;  ///< By key.
  CLI::Option* file_;
  CLI::Option* alone_;
  CLI::Option* check_;
  CLI::Option* print_;
  CLI::Option* describe_;
};

/// Problems between options that their needs and excludes don't express; their paths are keys.
using Conflicts = std::function<engine::Problems()>;

/// Reads everything into the places that the options name. Otherwise the exit code: 2 after all problems were
/// printed on stderr, 0 after --describe-config.
[[nodiscard]] std::variant<Reading, int> settle(const Program& program, const CommandLine& line,
                                                const Conflicts& conflicts = {});

/// Prints what --check-config and --print-config ask for, on stdout. False: the program is to run.
[[nodiscard]] bool answers(const Program& program, const CommandLine& line, const Reading& reading);

}  // namespace hpsearch::configuration
