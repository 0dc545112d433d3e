#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/client/state_directory.hpp"
#include "cli/verbs/failure.hpp"

namespace hpsearch::cli {

/// A search that was run in the current directory, or that Python started.
struct SearchPlace {
  std::filesystem::path path;  ///< Its state directory, absolute.
  std::string name;            ///< The name of its directory.
  RunRecord record;
  std::filesystem::file_time_type used{};  ///< When it was last run.
  std::filesystem::path
      whole;  ///< The directory with all that belongs to it: `path`, or one that contains it.
};

/// All searches below the state home, by name. A directory without a readable run.json is not a search. Empty
/// if the variable with the state home is wrong.
[[nodiscard]] std::vector<SearchPlace> searches_here();

/// All searches of this user that Python started, by name: tune(), sweeps of Hydra and local(). A search that
/// shares its name with one of searches_here() has its directory as its name.
[[nodiscard]] std::vector<SearchPlace> searches_of_python();

/// The first directory below the state home, or the state home, that this user may not read.
[[nodiscard]] std::optional<std::filesystem::path> forbidden_place();

/// The search that was run last, or null.
[[nodiscard]] std::optional<SearchPlace> latest_search();

/// The search that `given` names: by the directory's name, its experiment file, the experiment's name, or the
/// whole path of its directory. Searches of this directory come before those of Python. Null if there is
/// none; a usage failure if there are several.
[[nodiscard]] Outcome<std::optional<SearchPlace>> search_named(std::string_view given);

/// Whether a run of that experiment file ("-" for standard input) on that state directory continues the
/// search with this record; both paths are absolute. A directory that was moved together with its file is the
/// same.
[[nodiscard]] bool is_search_of(const RunRecord& record, const std::filesystem::path& file,
                                const std::filesystem::path& state);

/// The state directory for a run of the file: that of the search of the same file, otherwise a new name: its
/// stem, its directory's name and its stem, or with a number appended. usage: the variable with the state
/// home is wrong.
[[nodiscard]] Outcome<std::filesystem::path> state_directory_of(const std::string& stem,
                                                                const std::filesystem::path& file);

}  // namespace hpsearch::cli
