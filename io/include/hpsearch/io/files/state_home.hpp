#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::files {

/// The directory of the state of a user's searches and daemon, unless --state-dir is set.
class StateHome {
 public:
  /// The variables that choose it; nullptr: not set.
  struct Variables {
    const char* hpsearch_state_home = nullptr;
    const char* xdg_state_home = nullptr;
  };

  /// $HPSEARCH_STATE_HOME, else $XDG_STATE_HOME/hpsearch, else .hpsearch in the current directory. An empty
  /// variable counts as not set, and so does a relative XDG_STATE_HOME, as its specification demands.
  /// bad_request: HPSEARCH_STATE_HOME is relative.
  [[nodiscard]] static engine::Result<StateHome> from(const Variables& variables);
  /// With the variables of this process.
  [[nodiscard]] static engine::Result<StateHome> of_environment();

  /// The home of searches that Python starts, which belong to no directory: $HPSEARCH_STATE_HOME, else
  /// $XDG_STATE_HOME/hpsearch, else .local/state/hpsearch in `home` ($HOME). Empty if none is an absolute
  /// path.
  [[nodiscard]] static std::filesystem::path of_python(const Variables& variables, const char* home);
  /// With the variables of this process.
  [[nodiscard]] static std::filesystem::path of_python();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// The directory of `hpsearchd`.
  [[nodiscard]] std::filesystem::path daemon() const { return path_ / "hpsearchd"; }

  /// The directory of `hpsearch run` for a file with that stem in the directory `here`. If a home is for many
  /// directories, the name ends with a hash of `here`: the same file name elsewhere is another search.
  [[nodiscard]] std::filesystem::path run(std::string_view stem, const std::filesystem::path& here) const;

  /// Whether a run in `here` may have made the entry with that name.
  [[nodiscard]] bool may_be_of(std::string_view entry, const std::filesystem::path& here) const;

  /// The entry's name without that hash.
  [[nodiscard]] std::string name_of_run(std::string_view entry, const std::filesystem::path& here) const;

 private:
  enum class Holds { one_directory, many_directories };
  StateHome(std::filesystem::path path, Holds holds) : path_(std::move(path)), holds_(holds) {}

  std::filesystem::path path_;
  Holds holds_;
};

}  // namespace hpsearch::files
