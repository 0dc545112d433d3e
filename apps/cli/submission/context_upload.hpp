#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/client/client.hpp"
#include "cli/verbs/failure.hpp"
#include "hpsearch/io/archive/context_files.hpp"

namespace hpsearch::cli {

/// Whether the experiment's context is packed, which is the default, or its programs run in the directory
/// itself (`source: in_place`).
[[nodiscard]] bool needs_packed_context(const engine::Value& tree);

/// The files of the context directory that trials get. A usage failure that names the largest files
/// if it exceeds `megabytes`.
[[nodiscard]] Outcome<context::ContextListing> look_at_context(const std::string& directory,
                                                               std::uint64_t megabytes);

/// Packs these files of the directory and uploads them to the daemon, unless it has them; returns the digest.
[[nodiscard]] Outcome<std::string> upload_context(const Client& client, const std::string& directory,
                                                  const std::vector<context::ContextFile>& files);

}  // namespace hpsearch::cli
