#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "hpsearch/io/files/directory.hpp"

namespace hpsearch::files {

/// The status of the entry itself, even if it is a link. Nothing: it isn't accessible, or was removed.
[[nodiscard]] std::optional<struct ::stat> status_of(const Directory& directory, const std::string& name);

/// An entry of a tree that is no directory.
struct TreeEntry {
  const Directory& at;  ///< The directory that holds it.
  const Entry& entry;
  std::filesystem::path path;  ///< Below the tree's root.
  struct ::stat status {};
};

/// Calls `take` for each entry of a tree that is no directory, sorted by name in each directory, until it
/// returns false. Links are entries and aren't followed. Unreadable directories, and those below
/// deepest_tree, are skipped.
void each_file(const Directory& root, const std::function<bool(const TreeEntry&)>& take);

}  // namespace hpsearch::files
