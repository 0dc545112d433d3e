#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/verbs/verbs.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hpsearch::cli {

/// Kinds of values that the command line itself does not list.
enum class Values : std::uint8_t {
  none,
  files,
  directories,
  experiments,
  experiments_or_trials,
  trials,
  workers,
  queues,
  workspaces,
  contexts,
};

/// A word that may stand at the completed place.
struct Candidate {
  std::string word;
  std::string about;  ///< One line; "" = none.

  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// The words that may stand at the place of the last one.
struct Completion {
  std::vector<Candidate> candidates;  ///< Commands, options and words that an option allows.
  Values values = Values::none;       ///< What else may stand there.
  std::string before;                 ///< "--sort=": the part of the last word in front of its value.
  std::string word;                   ///< The rest of the last word: the beginning of the value.
  std::string experiment;             ///< The experiment in front of a trial; "" = none is given.
  ServerOptions server;               ///< The daemon that the words choose.
};

/// Completes the last of `words`, which follow the program's name. Words that the command line does not allow
/// are ignored.
[[nodiscard]] Completion complete(const CLI::App& app, std::span<const std::string> words);

/// The values of an argument of a command; `place` counts the words of one that takes several.
[[nodiscard]] Values values_of(const CLI::App& command, const CLI::Option& option, std::size_t place);

/// The first `most` numbers below `count` that begin with `digits`.
[[nodiscard]] std::vector<std::string> numbers_below(std::uint64_t count, const std::string& digits,
                                                     std::size_t most);

}  // namespace hpsearch::cli
