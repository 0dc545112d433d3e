#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hpsearch::arguments {

/// The options and arguments of a program or a command, also those in its groups of options, in the order of
/// the help. Hidden ones are left out.
[[nodiscard]] std::vector<const CLI::Option*> options_of(const CLI::App& app);

/// The commands of a program or a group of commands, in the order of the help.
[[nodiscard]] std::vector<const CLI::App*> commands_of(const CLI::App& app);

/// "-o" and "--output"; of an argument the names that it has beside its own.
[[nodiscard]] std::vector<std::string> names_of(const CLI::Option& option);

/// The option of that name ("-o" or "--output"), or nullptr.
[[nodiscard]] const CLI::Option* option_named(const CLI::App& app, std::string_view name);

/// The words that an option or an argument allows; empty if it allows others.
[[nodiscard]] std::vector<std::string> allowed_words(const CLI::Option& option);

/// The whole program, for its manual page and for tests:
/// {name, about, group, footer, options: [{names, argument, type, about, default, group, required, needs,
/// excludes, least, most}], commands: [the same]}. `argument` is null for an option, `most` for one without a
/// limit.
[[nodiscard]] engine::Value described_options(const CLI::App& app);

/// Adds --describe-options, which prints that and ends the parsing with CLI::Success.
void add_describing_option(CLI::App& app);

}  // namespace hpsearch::arguments
