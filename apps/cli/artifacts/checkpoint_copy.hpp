#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "cli/client/server.hpp"
#include "cli/verbs/failure.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// Copies a checkpoint to a directory that is not there yet, and compares every file with its manifest:
/// {path, from, files, links_left_out}. Links that may lead out of the directory are left out. `from` is a
/// directory, or an address that rclone reads with the help of `environment`.
///
/// Whole or not there: it grows beside its place, as DIR.unfinished. What is damaged is removed; what only
/// did not come to its end from an object store stays, and the same copy goes on with it.
[[nodiscard]] Outcome<engine::Value> copy_checkpoint(const std::string& from, const std::filesystem::path& to,
                                                     const std::map<std::string, std::string>& environment);

/// What tells rclone on this machine where the experiment's checkpoints are. The daemon does not show keys:
/// where the experiment has its own, those of this machine count.
[[nodiscard]] Outcome<std::map<std::string, std::string>> storage_environment(const Server& server,
                                                                              std::uint64_t experiment);

}  // namespace hpsearch::cli
