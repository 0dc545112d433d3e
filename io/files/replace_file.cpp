#include "hpsearch/io/files/replace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "hpsearch/io/files/descriptor.hpp"
#include "hpsearch/io/files/file_bytes.hpp"

namespace hpsearch::files {

namespace fs = std::filesystem;

engine::Error FileFailure::as_error() const {
  return {engine::Errc::unavailable,
          doing + " " + path.string() + ": " + std::generic_category().message(error)};
}

std::optional<FileFailure> replace_file(const fs::path& path, std::string_view text, Durability durability,
                                        Readers readers) {
  fs::path draft = path;
  draft += ".new";
  const bool is_durable = durability == Durability::of_the_disk;
  const bool is_hidden = readers == Readers::owner;
  Descriptor file(
      ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, is_hidden ? 0600 : 0644));
  if (!file || (is_hidden && ::fchmod(file.get(), 0600) != 0)) {  // An old draft keeps its mode.
    return FileFailure{"cannot write", draft, errno};
  }
  if (!write_all(file.get(), text) || (is_durable && ::fdatasync(file.get()) != 0)) {
    const int error = errno;
    ::unlink(draft.c_str());
    return FileFailure{"cannot write", path, error};
  }
  file.reset();
  if (::rename(draft.c_str(), path.c_str()) != 0) {
    return FileFailure{"cannot write", path, errno};
  }
  return is_durable ? sync_path(path.has_parent_path() ? path.parent_path() : fs::path(".")) : std::nullopt;
}

std::optional<FileFailure> make_private_directory(const fs::path& given) {
  const fs::path path = given.has_filename() ? given : given.parent_path();  // "dir/" means "dir".
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return std::nullopt;
  }
  if (path.has_parent_path()) {
    fs::create_directories(path.parent_path(), error);
    if (error) {
      return FileFailure{"cannot make the directory", path.parent_path(),
                         error.default_error_condition().value()};
    }
  }
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return FileFailure{"cannot make the directory", path, errno};
  }
  return std::nullopt;
}

std::optional<FileFailure> sync_path(const fs::path& path) {
  const Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) {
    return FileFailure{"cannot open", path, errno};
  }
  if (::fsync(opened.get()) != 0 && errno != EINVAL && errno != EROFS) {
    return FileFailure{"cannot write", path, errno};
  }
  return std::nullopt;
}

}  // namespace hpsearch::files
