#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/verbs/arguments.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hpsearch::cli {

/// Description of EXPERIMENT, wherever one is allowed.
inline constexpr const char* about_experiment =
    "ID or name of an experiment, or a search of this directory as\nhpsearch list shows it (default: the one "
    "that was run last here,\nor the daemon's only one)";

/// Builds the commands. It has the program, the arguments that they share, and the action of the chosen one.
///
/// It must outlive the parsing and the action, which refer to it.
struct VerbBuilder {
  using Action = std::function<int(const Output&)>;

  CLI::App& app;
  Arguments given = {};
  Action action = {};      ///< Action of the chosen command.
  std::string title = {};  ///< Title in the help of the commands that are added next.

  CLI::App& add(const std::string& name, const std::string& about, Action does);
  /// "keys": a command that has commands.
  CLI::App& add_family(const std::string& name, const std::string& about);
  CLI::App& add_to(CLI::App& group, const std::string& name, const std::string& about, Action does);
  void add_output(CLI::App& to);
  void add_server(CLI::App& to);
  void add_file(CLI::App& to);
  void add_context(CLI::App& to);
  void add_experiment(CLI::App& to);
  /// [EXPERIMENT [TRIAL]]
  void add_experiment_or_trial(CLI::App& to);
  /// [EXPERIMENT] TRIAL
  void add_trial(CLI::App& to, std::vector<std::string>& which);
  /// Runs the command once its words are read; wrong words are a usage failure.
  Action about_either(std::function<int(const Output&)> verb);
  ExperimentOptions experiment();
};

}  // namespace hpsearch::cli
