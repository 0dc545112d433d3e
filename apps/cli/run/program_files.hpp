#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs/failure.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/io/archive/context_files.hpp"

namespace hpsearch::cli {

/// Whether a file of that name, executable or not, that begins so, is a part of a program and not its data or
/// its output: source code, its settings, or something that can be run. Experiment files are not.
[[nodiscard]] bool is_program_file(std::string_view path, bool executable, std::string_view begin);

/// The files of the directory that words of the entrypoint name: the program where trials run in the
/// directory.
[[nodiscard]] context::ContextListing named_by_entrypoint(const std::string& directory,
                                                          const engine::Value& tree);

/// Path → SHA-256 of the files of the context that make the program: those that is_program_file() names, and
/// those that a word of the entrypoint names. The experiment file itself is not of them, nor are files of
/// more than 16 MB. A file that cannot be read is a failure.
[[nodiscard]] Outcome<engine::Value> program_files(const std::string& directory,
                                                   const std::vector<context::ContextFile>& files,
                                                   const engine::Value& tree,
                                                   const std::filesystem::path& experiment_file);

/// Paths of `before` that are another content or gone in `now`, in order. Files that are new change nothing
/// as long as no other does.
[[nodiscard]] std::vector<std::string> changed_files(const engine::Value& before, const engine::Value& now);

}  // namespace hpsearch::cli
