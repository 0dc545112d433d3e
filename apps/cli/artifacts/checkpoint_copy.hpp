#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "cli/client/server.hpp"
#include "cli/verbs/failure.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// Copies a checkpoint to a new directory, and compares every file with its manifest: {path, from, files,
/// links_left_out}. Links that may lead out of the directory are left out. `from` is a directory, or an
/// address that rclone reads with `environment`.
///
/// The copy appears whole or not at all: it is made beside its place, as DIR.unfinished. Damaged copies are
/// removed; a copy from an object store that was only interrupted stays, and the same command continues it.
[[nodiscard]] Outcome<engine::Value> copy_checkpoint(const std::string& from, const std::filesystem::path& to,
                                                     const std::map<std::string, std::string>& environment);

/// The variables with which rclone on this machine finds the experiment's checkpoints. The daemon does not
/// show keys: if the experiment has its own, those of this machine are used.
[[nodiscard]] Outcome<std::map<std::string, std::string>> storage_environment(const Server& server,
                                                                              std::uint64_t experiment);

}  // namespace hpsearch::cli
