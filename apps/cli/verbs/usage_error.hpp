#pragma once

#include <string>
#include <utility>

#include "cli/render/output.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace hpsearch::cli {

/// The verb that was chosen, or the group or program where none was, and how it is called: "hpsearch store
/// verify".
[[nodiscard]] std::pair<const CLI::App*, std::string> chosen_in(const CLI::App& app);

/// CLI11 says an unknown word is "not expected"; people want to hear which word would be.
[[nodiscard]] std::string explain(const CLI::App& app, const CLI::ParseError& error);

/// Whether JSON is wanted, as far as can be told from arguments that could not be parsed.
[[nodiscard]] Output::Format guess_format(int argc, char** argv);

}  // namespace hpsearch::cli
