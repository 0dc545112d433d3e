#pragma once

#include <string>
#include <utility>

#include "cli/render/output.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace hpsearch::cli {

/// The chosen command, otherwise the group or program, and its full name: "hpsearch store verify".
[[nodiscard]] std::pair<const CLI::App*, std::string> chosen_in(const CLI::App& app);

/// Explains a parse error in our words: the option, its value and what is allowed, or the word that was
/// probably meant.
[[nodiscard]] std::string explain(const CLI::App& app, const CLI::ParseError& error);

/// The likely output format of arguments that could not be parsed.
[[nodiscard]] Output::Format guess_format(int argc, char** argv);

}  // namespace hpsearch::cli
