// Archives and deletes experiments that have ended. A search of the current directory is a directory
// (remove_search.cpp); every other experiment belongs to a daemon.

#include <unistd.h>

#include <iostream>
#include <string>
#include <utility>

#include "cli/client/answers.hpp"
#include "cli/client/search_places.hpp"
#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/proto/api/experiments.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

/// Whether the name is that of a search of the current directory.
bool is_of_this_directory(const std::string& name, const ServerOptions& server) {
  if (server.server || server.state_dir) {
    return false;
  }
  const auto here = search_named(name);
  return !here || *here;  // A wrong name is reported where the search is looked up.
}

Outcome<Reached> reach(const std::string& name, const ServerOptions& server, const Output& output) {
  return reach_experiment(server, name, Server::Need::running, output, Reach::shared);
}

std::string text_of(const api::ExperimentSummary& experiment) {
  return "experiment " + std::to_string(experiment.id.number()) + ", " + printable(experiment.name) +
         " (trials: " + states_text(experiment.trials) + ")";
}

/// Asks for its name on the terminal.
bool is_confirmed(const api::ExperimentSummary& experiment, const Output& output) {
  output.message("this deletes " + text_of(experiment) +
                 " with its checkpoints, logs and files, and cannot be undone");
  output.message("enter its name to delete it:");
  std::string line;
  std::getline(std::cin, line);
  return line == experiment.name;
}

int change(const std::string& what, const EndedOptions& options, const std::string& name,
           const Output& output) {
  const Outcome<Reached> reached = reach(name, options.server, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const Outcome<Value> answer =
      reached->server.client().post(experiment_target(reached->experiment, "/" + what), Value::Map{});
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
  } else {
    output.print("experiment " + std::to_string(reached->experiment) +
                 (what == "archive" ? " is archived; hpsearch list --archived shows it\n"
                                    : " is in hpsearch list again\n"));
  }
  return 0;
}

}  // namespace

int archive(const EndedOptions& options, const Output& output) {
  for (const std::string& name : options.names) {
    const int exit = is_of_this_directory(name, options.server) ? archive_search({name, options.yes}, output)
                                                                : change("archive", options, name, output);
    if (exit != 0) {
      return exit;
    }
  }
  return 0;
}

int unarchive(const EndedOptions& options, const Output& output) {
  for (const std::string& name : options.names) {
    if (const int exit = change("unarchive", options, name, output); exit != 0) {
      return exit;
    }
  }
  return 0;
}

int delete_ended(const EndedOptions& options, const Output& output) {
  const std::string& name = options.names.front();
  if (is_of_this_directory(name, options.server)) {
    return remove_search({name, options.yes}, output);
  }
  const Outcome<Reached> reached = reach(name, options.server, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const std::string target = experiment_target(reached->experiment, "");
  const auto experiment = read_as<api::ExperimentSummary>(reached->server.client().get(target));
  if (!experiment) {
    return output.fail(experiment.failure());
  }
  if (!options.yes && (output.json() || ::isatty(STDIN_FILENO) == 0)) {
    return output.fail(usage_failure("add --yes to delete " + text_of(*experiment)));
  }
  if (!options.yes && !is_confirmed(*experiment, output)) {
    return output.fail(usage_failure("this is not its name; nothing was deleted"));
  }
  const Outcome<Value> answer = reached->server.client().remove(target);
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
  } else {
    output.print("deleted " + text_of(*experiment) +
                 "; its checkpoints are being removed, its events stay in the store\n");
  }
  return 0;
}

}  // namespace hpsearch::cli
