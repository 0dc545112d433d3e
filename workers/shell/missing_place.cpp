#include "hpsearch/workers/shell/missing_place.hpp"

#include <algorithm>
#include <system_error>

namespace hpsearch::workers {

namespace fs = std::filesystem;

fs::path lacking_directory(const fs::path& path) {
  fs::path at;
  for (const fs::path& part : path) {
    const fs::path above = at;
    at /= part;
    std::error_code error;
    if (!fs::exists(at, error)) {
      return above;
    }
  }
  return {};
}

bool may_be_remade(const fs::path& directory) {
  constexpr const char* levels[] = {"/", "/media", "/mnt", "/opt", "/srv"};
  std::error_code error;
  return std::any_of(std::begin(levels), std::end(levels),
                     [&](const char* level) { return directory == level; }) &&
         !fs::is_symlink(directory, error);
}

}  // namespace hpsearch::workers
