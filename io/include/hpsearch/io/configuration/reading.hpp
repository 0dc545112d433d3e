#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/io/configuration/option.hpp"

namespace hpsearch::configuration {

/// The options that a command line sets.
struct CommandLine {
  enum class Wish : std::uint8_t {
    run,
    check,     ///< --check-config
    print,     ///< --print-config
    describe,  ///< --describe-config
  };

  Wish wish = Wish::run;
  std::map<std::string, std::vector<std::string>> flags{};  ///< Texts of the flags that are there, by key.
  std::string file{};   ///< --config, which must exist; "" = the usual file.
  std::string usual{};  ///< usual_file() at the start; "" = there is none.
  bool alone = false;   ///< --no-config: neither files nor variables count.
};

/// Where a value is from.
struct Place {
  enum class Kind : std::uint8_t { usual, file, variable, flag };

  Kind kind = Kind::usual;
  std::string name{};    ///< The path of the file, the variable or the flag.
  std::size_t line = 0;  ///< In the file.

  friend bool operator==(const Place&, const Place&) = default;
};

/// "/etc/hpsearch/hpsearchd.yaml:3", "--http" or "default".
[[nodiscard]] std::string text_of(const Place& place);

/// The value of an option: one text, or those of a list.
struct Given {
  std::vector<std::string> texts;
  Place place;
};

/// By key.
using Values = std::map<std::string, Given, std::less<>>;

struct Reading {
  Values values;
  std::vector<std::string> problems;  ///< Sentences, each with its file and line, its variable or its flag.
  std::vector<std::string> files;     ///< Those that exist.
};

/// The main configuration file of a program without --config: PROGRAM.yaml in the first of these directories
/// that is set: $CONFIGURATION_DIRECTORY, as systemd sets it for a service; /etc/hpsearch for root;
/// $XDG_CONFIG_HOME/hpsearch; $HOME/.config/hpsearch; the last two if this user may enter the home. "" =
/// there is none of them.
[[nodiscard]] std::filesystem::path usual_file(std::string_view program);

/// Reads all files, variables and flags. The main file comes first, then FILE.d/*.yaml in the order of their
/// names, then variables, then flags; of each option the last value counts, also of a list. A file that is
/// named on the command line must exist.
///
/// Cost: at most 256 KiB of each file are read.
[[nodiscard]] Reading read(const Program& program, const CommandLine& line);

/// Stores the values through the options' takes, and returns the problems: values that are not allowed,
/// options that need or exclude others.
[[nodiscard]] std::vector<std::string> store(const Program& program, const Values& values);

/// The problem of an option as a sentence that begins with the place of its value. `problem.path` is its key.
[[nodiscard]] std::string sentence(const Program& program, const Values& values,
                                   const engine::Problem& problem);

/// A configuration file with these values, where each is from, and all other options as comments. The result
/// can be read.
[[nodiscard]] std::string printed(const Program& program, const Values& values);

/// Keys whose values differ, in the order of the options.
[[nodiscard]] std::vector<std::string> differences(const Program& program, const Values& before,
                                                   const Values& after);

/// The changes that a second reading makes to a running program.
struct Reread {
  Values values;                          ///< Those that count from now on.
  std::vector<std::string> changed;       ///< Keys whose new values count.
  std::vector<std::string> need_restart;  ///< Keys whose new values count after a restart.
  std::vector<std::string> problems;      ///< If there are any, nothing changes.
};

/// Reads files and variables again. `program` has places of its own, not those of the running program;
/// `conflicts` looks at these.
[[nodiscard]] Reread read_again(const Program& program, const CommandLine& line, const Values& running,
                                const std::function<engine::Problems()>& conflicts);

/// The sentences of a second reading for the log: what changed, what needs a restart; or the first problem.
struct RereadSentences {
  std::string changed;       ///< "" = nothing changed.
  std::string need_restart;  ///< "" = nothing needs one.
  std::string problem;       ///< "" = there is none.
};
[[nodiscard]] RereadSentences sentences_of(const Program& program, const Reread& reread);

}  // namespace hpsearch::configuration
