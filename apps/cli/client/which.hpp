#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/server.hpp"
#include "cli/render/output.hpp"
#include "cli/verbs/failure.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {

/// How commands name experiments and trials. An experiment is its ID, its name, or a search that was run in
/// the current directory: that search's directory below .hpsearch, or its experiment file. A trial is its
/// number. EXPERIMENT/TRIAL is both in one word.
struct Which {
  std::optional<std::string> experiment;  ///< As given.
  std::optional<std::uint64_t> trial;
};

/// The arguments of a command; decides the meaning of a single word.
enum class About {
  experiment,  ///< [EXPERIMENT]
  either,      ///< [EXPERIMENT [TRIAL]]: a single word is the experiment.
  trial,       ///< [EXPERIMENT] TRIAL: a single word is the trial.
};

/// Whether the word is a checkpoint's ID, EXPERIMENT/TRIAL/ATTEMPT-STEP.
[[nodiscard]] bool names_checkpoint(const std::string& word);

/// A usage failure names the wrong word. The parser refuses too many words.
[[nodiscard]] Outcome<Which> read_which(const std::vector<std::string>& words, About about);

/// Where an experiment is, before any daemon was asked.
struct ExperimentPlace {
  ServerOptions server;                   ///< With the state directory of a search of the current directory.
  std::optional<std::string> experiment;  ///< Its ID or name there; null: the only one.
};
/// Without --server and --state-dir: the search of the current directory with this name. If there is none,
/// the usual daemon, or, if none answers, the search that was run last here; then a message names it.
[[nodiscard]] Outcome<ExperimentPlace> place_of(const ServerOptions& options,
                                                const std::optional<std::string>& experiment,
                                                const Output& output);

/// The daemon and the experiment there.
struct Reached {
  Server server;
  std::uint64_t experiment = 0;
};

/// Finds the experiment and its daemon. Without a name it is the one that was run last in the current
/// directory, or the only one of the daemon. `shared`: as Server::reach_shared, unless a search of the
/// current directory is named.
enum class Reach { any, shared };
[[nodiscard]] Outcome<Reached> reach_experiment(const ServerOptions& options,
                                                const std::optional<std::string>& experiment,
                                                Server::Need need, const Output& output,
                                                Reach reach = Reach::any);

}  // namespace hpsearch::cli
