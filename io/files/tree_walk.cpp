#include "hpsearch/io/files/tree_walk.hpp"

#include <fcntl.h>

#include <vector>

#include "hpsearch/io/files/tree.hpp"

namespace hpsearch::files {
namespace {

bool walk(const Directory& at, const std::filesystem::path& below, int depth,
          const std::function<bool(const TreeEntry&)>& take) {
  const engine::Result<std::vector<Entry>> entries = at.entries();
  for (std::size_t i = 0; entries && i < entries->size(); ++i) {
    const Entry& entry = (*entries)[i];
    if (entry.kind == Kind::directory) {
      const engine::Result<Directory> inside = at.directory(entry.name);
      if (inside && depth <= deepest_tree && !walk(*inside, below / entry.name, depth + 1, take)) {
        return false;
      }
    } else if (const auto status = status_of(at, entry.name);
               status && !take({at, entry, below / entry.name, *status})) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<struct ::stat> status_of(const Directory& directory, const std::string& name) {
  struct ::stat status {};
  return ::fstatat(directory.descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0
             ? std::optional(status)
             : std::nullopt;
}

void each_file(const Directory& root, const std::function<bool(const TreeEntry&)>& take) {
  walk(root, "", 0, take);
}

}  // namespace hpsearch::files
