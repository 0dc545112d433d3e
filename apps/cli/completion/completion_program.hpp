#pragma once

#include <span>
#include <string>

#include "cli/render/output.hpp"
#include "cli/verbs/verbs.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace hpsearch::cli {

/// The hidden command that the scripts of shells call: hpsearch __complete WORDS. The last word, which may be
/// empty, is the one to complete.
inline constexpr const char* completing_verb = "__complete";

/// Prints what may stand there: a word a line, with a tab and a description behind it, and ":files" or
/// ":directories" where the shell itself knows the words. Ends within 100 ms; no answer of a daemon is no
/// error. `of_environment`: the daemon that the environment chooses.
[[nodiscard]] int complete_words(const CLI::App& app, std::span<const std::string> words,
                                 const ServerOptions& of_environment);

/// `hpsearch completion SHELL`: prints the script for "bash", "zsh" or "fish".
[[nodiscard]] int print_completion(const std::string& shell, const Output& output);

}  // namespace hpsearch::cli
