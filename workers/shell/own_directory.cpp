#include "hpsearch/workers/shell/own_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

struct Opened {
  Descriptor descriptor;
  struct stat info {};
};

Result<Opened> open_without_links(const fs::path& path) {
  Opened opened{Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)), {}};
  if (!opened.descriptor || ::fstat(opened.descriptor.get(), &opened.info) != 0) {
    return file_error("cannot open", path, errno);
  }
  return opened;
}

Error not_ours(const fs::path& path, const std::string& what) {
  return Error{
      Errc::wrong_state,
      path.string() + " was " + what +
          "; the worker takes checkpoints only from the directory that it made there, and has left these "
          "files "
          "alone. Empty that directory instead of replacing it, and write or copy checkpoints into it"};
}

bool is_link(const fs::path& path) {
  std::error_code ignored;
  return fs::is_symlink(fs::symlink_status(path, ignored));
}

/// Whether the directory itself, or one of the two above it (ml/output/checkpoints), is a link: all three are
/// the worker's.
bool leads_elsewhere(const fs::path& directory) {
  return is_link(directory) || is_link(directory.parent_path()) ||
         is_link(directory.parent_path().parent_path());
}

}  // namespace

Result<OwnDirectory> own_directory_at(const fs::path& path) {
  const Result<Opened> opened = open_without_links(path);
  if (!opened) {
    return opened.error();
  }
  return OwnDirectory{path, opened->info.st_dev, opened->info.st_ino};
}

Result<files::Directory> open_own_directory(const OwnDirectory& made) {
  Result<Opened> opened = open_without_links(made.path);
  if (!opened && opened.error().code == Errc::not_found) {
    return not_ours(made.path, "removed");
  }
  if (!opened && leads_elsewhere(made.path)) {
    return not_ours(made.path, "replaced by a symbolic link");
  }
  if (!opened) {
    return opened.error();
  }
  if (opened->info.st_dev != made.device || opened->info.st_ino != made.inode) {
    return not_ours(made.path, leads_elsewhere(made.path) ? "replaced by a symbolic link"
                                                          : "replaced by another directory");
  }
  return files::Directory(std::move(opened->descriptor), made.path);
}

Result<files::Directory> emptied_checkpoint_directory(const fs::path& directory) {
  std::error_code error;
  const fs::path absolute = fs::absolute(directory, error).lexically_normal();
  const fs::path place = absolute.has_filename() ? absolute : absolute.parent_path();
  const fs::path above = place.parent_path().parent_path().parent_path();
  // In a container or at /ml, the three are mounts of the worker.
  const Result<files::Directory> top =
      files::Directory::open(above, {.mounts = files::Rules::Mounts::entered});
  Result<files::Directory> opened = top ? top->directory(place.lexically_relative(above)) : top.error();
  if (top && !opened && opened.error().code == Errc::not_found) {
    const Status made = top->make_directories(place.lexically_relative(above));
    opened = made ? top->directory(place.lexically_relative(above)) : made.error();
  }
  if (!opened && leads_elsewhere(place)) {
    return Error{Errc::wrong_state,
                 "HPSEARCH_CHECKPOINT_DIR (" + directory.string() +
                     ") was replaced by a symbolic link; nothing was removed or copied. "
                     "The worker takes checkpoints only from the directory that it made there"};
  }
  if (!opened) {
    return opened;
  }
  if (const Status emptied = files::remove_content(*opened); !emptied) {
    return emptied.error();
  }
  return opened;
}

}  // namespace hpsearch::workers
