#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/client/state_directory.hpp"
#include "cli/verbs/failure.hpp"

namespace hpsearch::cli {

/// A search that was run in the current directory.
struct SearchPlace {
  std::filesystem::path path;  ///< Its state directory, absolute.
  std::string name;            ///< As people call it: the directory's name.
  RunRecord record;
  std::filesystem::file_time_type used{};  ///< When it was last run.
};

/// All of them below the state home, by name. A directory without a readable run.json is none. Empty where
/// the variable that names the state home is wrong.
[[nodiscard]] std::vector<SearchPlace> searches_here();

/// The first directory below the state home, or the state home, that this user may not read.
[[nodiscard]] std::optional<std::filesystem::path> forbidden_place();

/// The one that was run last, or nothing.
[[nodiscard]] std::optional<SearchPlace> latest_search();

/// The one that `given` names: the directory's name, the experiment's name, or its experiment file. Nothing
/// when none is meant; a usage failure when several are.
[[nodiscard]] Outcome<std::optional<SearchPlace>> search_named(std::string_view given);

/// Whether a search that was begun with this record goes on by a run of that experiment file ("-" for
/// standard input) on that state directory; both absolute. A directory that was moved together with its file
/// is the same.
[[nodiscard]] bool is_search_of(const RunRecord& record, const std::filesystem::path& file,
                                const std::filesystem::path& state);

/// The state directory of a run on the file: the one that a search of this very file uses, else a new name:
/// its stem, or with its directory's name before it, or with a number behind it. usage: the variable that
/// names the state home is wrong.
[[nodiscard]] Outcome<std::filesystem::path> state_directory_of(const std::string& stem,
                                                                const std::filesystem::path& file);

}  // namespace hpsearch::cli
