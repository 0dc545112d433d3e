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

/// Whether a file of that name, executable or not, with that beginning, is a part of a program and not its
/// data or its output: source code, its settings, or something that can be run. Experiment files are not.
[[nodiscard]] bool is_program_file(std::string_view path, bool executable, std::string_view begin);

/// The files of the directory that words of the entrypoint name: the program if trials run in the directory.
[[nodiscard]] context::ContextListing named_by_entrypoint(const std::string& directory,
                                                          const engine::Value& tree);

/// Path → SHA-256 of the files of the context that make up the program: those of is_program_file(), and those
/// that a word of the entrypoint names. Without the experiment file itself, and without files of more than 16
/// MB. Fails if a file cannot be read.
[[nodiscard]] Outcome<engine::Value> program_files(const std::string& directory,
                                                   const std::vector<context::ContextFile>& files,
                                                   const engine::Value& tree,
                                                   const std::filesystem::path& experiment_file);

/// Paths of `before` with another content or missing in `now`, in order. New files count only together with
/// other changes.
[[nodiscard]] std::vector<std::string> changed_files(const engine::Value& before, const engine::Value& now);

}  // namespace hpsearch::cli
