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

/// How every verb names what it is about. An experiment is its ID, its name, or a search that was run in the
/// current directory: that one's directory below .hpsearch, or its experiment file. A trial is its number.
/// Both in one word are EXPERIMENT/TRIAL.
struct Which {
  std::optional<std::string> experiment;  ///< As it was given.
  std::optional<std::uint64_t> trial;
};

/// What a verb is about; decides what a single word means.
enum class About {
  experiment,  ///< [EXPERIMENT]
  either,      ///< [EXPERIMENT [TRIAL]]: a single word is the experiment.
  trial,       ///< [EXPERIMENT] TRIAL: a single word is the trial.
};

/// Whether the word is a checkpoint's ID, EXPERIMENT/TRIAL/ATTEMPT-STEP.
[[nodiscard]] bool names_checkpoint(const std::string& word);

/// A usage failure names the word that is wrong. Words of more than the verb takes are refused by who parses.
[[nodiscard]] Outcome<Which> read_which(const std::vector<std::string>& words, About about);

/// Where an experiment is, before anybody is asked.
struct ExperimentPlace {
  ServerOptions server;                   ///< With the state directory of a search of the current directory.
  std::optional<std::string> experiment;  ///< Its ID or name there; nothing: the only one.
};
/// Without --server and --state-dir: the search of the current directory that is named so. Without such a
/// name the usual daemon, or, where none answers, the search that was run last here; then a message says so.
[[nodiscard]] Outcome<ExperimentPlace> place_of(const ServerOptions& options,
                                                const std::optional<std::string>& experiment,
                                                const Output& output);

/// The daemon and the experiment there.
struct Reached {
  Server server;
  std::uint64_t experiment = 0;
};

/// Where the experiment is, and which it is there. Without a name it is the one that was run last in the
/// current directory, or the only one of the daemon. `shared`: as Server::reach_shared, unless a search of
/// the current directory is named.
enum class Reach { any, shared };
[[nodiscard]] Outcome<Reached> reach_experiment(const ServerOptions& options,
                                                const std::optional<std::string>& experiment,
                                                Server::Need need, const Output& output,
                                                Reach reach = Reach::any);

}  // namespace hpsearch::cli
