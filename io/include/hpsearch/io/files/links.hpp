#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/directory.hpp"

namespace hpsearch::files {

/// Whether a link at this path of a tree has a target in the tree, for all other links in it: `..`
/// comes before all names, and not more often than the link has directories above it. Pure.
[[nodiscard]] bool leads_inside(const std::filesystem::path& link, const std::filesystem::path& target);

/// Removes the links in the directory that may lead out of it, and returns their paths. No other process may
/// change the tree meanwhile.
[[nodiscard]] engine::Result<std::vector<std::string>> remove_links_out(const Directory& directory);

}  // namespace hpsearch::files
