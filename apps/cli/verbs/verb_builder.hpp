#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/verbs/arguments.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace hpsearch::cli {

/// How an EXPERIMENT is named, wherever one may be.
inline constexpr const char* about_experiment =
    "ID or name of an experiment, or a search of this directory as\nhpsearch list shows it (default: the one "
    "that was run last here,\nor the daemon's only one)";

/// What the verbs are built with: the program, the arguments they share, and what the chosen one does.
///
/// It has to outlive the parsing and the action, which refer to it.
struct VerbBuilder {
  using Action = std::function<int(const Output&)>;

  CLI::App& app;
  Arguments given = {};
  Action action = {};  ///< Of the verb that was chosen.

  CLI::App& add(const std::string& name, const std::string& about, Action does);
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
  /// Does the verb once its words are read; what is wrong with them is a usage failure.
  Action about_either(std::function<int(const Output&)> verb);
  ExperimentOptions experiment();
};

}  // namespace hpsearch::cli
