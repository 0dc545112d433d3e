#include "hpsearch/io/files/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

#include "files/lookup.hpp"
#include "hpsearch/io/files/file_bytes.hpp"
#include "hpsearch/io/files/random_bytes.hpp"

namespace hpsearch::files {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

Kind kind_of(mode_t mode) noexcept {
  return S_ISREG(mode)   ? Kind::file
         : S_ISDIR(mode) ? Kind::directory
         : S_ISLNK(mode) ? Kind::link
                         : Kind::other;
}

/// A name of no other file: a draft must not replace a file of a program.
std::string draft_name(const std::string& name) {
  constexpr std::size_t kept = 100;  // A name has at most 255 bytes.
  return "." + name.substr(0, kept) + "." + random_hex(8);
}

}  // namespace

Directory::Directory(Descriptor descriptor, fs::path name, Rules rules)
    : descriptor_(std::move(descriptor)), name_(std::move(name)), rules_(rules) {
}

Result<Directory> Directory::open(const fs::path& path, Rules rules) {
  Directory opened(Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), path, rules);
  if (!opened.descriptor_) {
    return opened.failed("cannot open", "", errno);
  }
  return opened;
}

Error Directory::failed(std::string_view doing, const fs::path& below, int error) const {
  const std::string what = std::string(doing) + " " + (below.empty() ? name_ : name_ / below).string() + ": ";
  switch (error) {
    case ENOENT:
      return Error{Errc::not_found, what + std::generic_category().message(error)};
    case ELOOP:
      return Error{Errc::wrong_state, what + "a symbolic link leads there, which is not followed"};
    case EXDEV:
      return Error{Errc::wrong_state, what + "something else is mounted there"};
    case ENOTDIR:
    case EISDIR:
    case EEXIST:
    case ENOTEMPTY:
      return Error{Errc::wrong_state, what + std::generic_category().message(error)};
    case ENOSPC:
    case EDQUOT:
      return Error{Errc::unavailable,
                   what + std::generic_category().message(error) + "; free some space there"};
    default:
      return Error{Errc::unavailable, what + std::generic_category().message(error)};
  }
}

Descriptor Directory::look_up(const fs::path& below, int flags, std::uint32_t mode) const {
  return look_up_below(descriptor_.get(), below, flags, mode, rules_);
}

Result<Directory::Place> Directory::place(std::string_view doing, const fs::path& below) const {
  Place found;
  found.name = below.filename().string();
  const fs::path above = below.parent_path();
  if (!is_plain(below)) {
    return failed(doing, below, EINVAL);
  }
  if (above.empty()) {
    found.at = descriptor_.get();
    return found;
  }
  found.directory = look_up(above, O_PATH | O_DIRECTORY);
  if (!found.directory) {
    return failed(doing, below, errno);
  }
  found.at = found.directory.get();
  return found;
}

Result<Directory::Identity> Directory::identity() const {
  struct stat info {};
  if (::fstat(descriptor_.get(), &info) != 0) {
    return failed("cannot read", "", errno);
  }
  return Identity{info.st_dev, info.st_ino};
}

Result<Directory> Directory::directory(const fs::path& below) const {
  Descriptor opened = look_up(below, O_RDONLY | O_DIRECTORY);
  if (!opened) {
    return failed("cannot open", below, errno);
  }
  return Directory(std::move(opened), name_ / below, rules_);
}

Result<std::optional<Kind>> Directory::kind(const fs::path& below) const {
  const Result<Place> where = place("cannot look for", below);
  if (!where) {
    return where.error().code == Errc::not_found ? Result<std::optional<Kind>>(std::nullopt) : where.error();
  }
  struct stat info {};
  if (::fstatat(where->at, where->name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? Result<std::optional<Kind>>(std::nullopt)
                           : failed("cannot look for", below, errno);
  }
  return std::optional(kind_of(info.st_mode));
}

bool Directory::has(const fs::path& below) const {
  const Result<std::optional<Kind>> there = kind(below);
  return there && there->has_value();
}

Result<std::vector<Entry>> Directory::entries() const {
  Descriptor again(::openat(descriptor_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, CloseDirectory> stream(again ? ::fdopendir(again.get()) : nullptr);
  if (stream == nullptr) {
    return failed("cannot read", "", errno);
  }
  static_cast<void>(again.release());  // The stream owns it.
  std::vector<Entry> found;
  for (errno = 0; const dirent* entry = ::readdir(stream.get()); errno = 0) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (name == "." || name == "..") {
      continue;
    }
    Kind kind = Kind::other;
    switch (entry->d_type) {
      case DT_REG:
        kind = Kind::file;
        break;
      case DT_DIR:
        kind = Kind::directory;
        break;
      case DT_LNK:
        kind = Kind::link;
        break;
      case DT_UNKNOWN: {  // Not every file system sets the type.
        struct stat info {};
        if (::fstatat(descriptor_.get(), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
          continue;  // Removed meanwhile.
        }
        kind = kind_of(info.st_mode);
        break;
      }
      default:
        break;
    }
    found.push_back({std::string(name), kind});
  }
  if (errno != 0) {
    return failed("cannot read", "", errno);
  }
  std::sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return found;
}

Result<Descriptor> Directory::regular_file(std::string_view doing, const fs::path& below, int flags) const {
  const Descriptor there = look_up(below, O_PATH);
  struct stat info {};
  if (!there || ::fstat(there.get(), &info) != 0) {
    return failed(doing, below, errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return S_ISLNK(info.st_mode) ? failed(doing, below, ELOOP)
           : S_ISDIR(info.st_mode)
               ? failed(doing, below, EISDIR)
               : Error{Errc::wrong_state,
                       std::string(doing) + " " + (name_ / below).string() + ": it is no file"};
  }
  // Opens the same file, even if its name stands for another one now.
  Descriptor opened(
      ::open(("/proc/self/fd/" + std::to_string(there.get())).c_str(), flags | O_CLOEXEC | O_NOCTTY));
  if (!opened) {
    return failed(doing, below, errno);
  }
  return opened;
}

Result<Descriptor> Directory::file(const fs::path& below) const {
  return regular_file("cannot read", below, O_RDONLY);
}

Result<Descriptor> Directory::file_to_append_to(const fs::path& below) const {
  return regular_file("cannot write", below, O_WRONLY | O_APPEND);
}

Result<std::string> Directory::read(const fs::path& below, std::size_t limit) const {
  const Result<Descriptor> opened = file(below);
  if (!opened) {
    return opened.error();
  }
  std::string text;
  std::array<char, 16 * 1024> piece{};
  for (;;) {
    const ssize_t got = ::read(opened->get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return failed("cannot read", below, errno);
    }
    if (got == 0) {
      return text;
    }
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (text.size() > limit) {
      return Error{Errc::corrupt,
                   (name_ / below).string() + " is larger than " + std::to_string(limit) + " bytes"};
    }
  }
}

Result<std::string> Directory::link_target(const fs::path& below) const {
  const Descriptor there = look_up(below, O_PATH);
  std::array<char, PATH_MAX> target{};
  const ssize_t size = there ? ::readlinkat(there.get(), "", target.data(), target.size()) : -1;
  if (size < 0) {
    return failed("cannot read the link", below, errno);
  }
  return std::string(target.data(), static_cast<std::size_t>(size));
}

Result<Descriptor> Directory::create(const fs::path& below, std::uint32_t mode) const {
  Descriptor made = look_up(below, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (!made) {
    return failed("cannot write", below, errno);
  }
  return made;
}

Result<std::string> Directory::draft_of(const Place& where, const fs::path& below, std::string_view text,
                                        bool durable, std::uint32_t mode) const {
  const std::string draft = draft_name(where.name);
  const Descriptor file(
      ::openat(where.at, draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file) {
    return failed("cannot write", below, errno);
  }
  if (!write_all(file.get(), text) || (durable && ::fdatasync(file.get()) != 0)) {
    const int error = errno;
    ::unlinkat(where.at, draft.c_str(), 0);
    return failed("cannot write", below, error);
  }
  return draft;
}

Status Directory::sync_above(const fs::path& below) const {
  if (!below.has_parent_path()) {
    return sync();
  }
  const Result<Directory> above = directory(below.parent_path());
  return above ? above->sync() : Status(above.error());
}

Status Directory::write(const fs::path& below, std::string_view text, bool durable,
                        std::uint32_t mode) const {
  const Result<Place> where = place("cannot write", below);
  const Result<std::string> draft =
      where ? draft_of(*where, below, text, durable, mode) : Result<std::string>(where.error());
  if (!draft) {
    return draft.error();
  }
  if (::renameat(where->at, draft->c_str(), where->at, where->name.c_str()) != 0) {
    const int error = errno;
    ::unlinkat(where->at, draft->c_str(), 0);
    return failed("cannot write", below, error);
  }
  return durable ? sync_above(below) : Status(Done{});
}

Status Directory::write_if_missing(const fs::path& below, std::string_view text, std::uint32_t mode) const {
  const Result<std::optional<Kind>> there = kind(below);
  if (!there || there->has_value()) {
    return there ? Status(Done{}) : Status(there.error());
  }
  const Result<Place> where = place("cannot write", below);
  const Result<std::string> draft =
      where ? draft_of(*where, below, text, true, mode) : Result<std::string>(where.error());
  if (!draft) {
    return draft.error();
  }
  // Neither call replaces an existing file. Some file systems have no hard links, others can't rename that
  // way.
  const char* const name = where->name.c_str();
  const bool first = ::linkat(where->at, draft->c_str(), where->at, name, 0) == 0 || errno == EEXIST ||
                     ::renameat2(where->at, draft->c_str(), where->at, name, RENAME_NOREPLACE) == 0 ||
                     errno == EEXIST;
  const int error = errno;
  ::unlinkat(where->at, draft->c_str(), 0);
  return first ? sync_above(below) : failed("cannot write", below, error);
}

Status Directory::make_directory(const fs::path& below) const {
  const Result<Place> where = place("cannot make directory", below);
  if (!where) {
    return where.error();
  }
  return ::mkdirat(where->at, where->name.c_str(), 0777) == 0 ? Status(Done{})
                                                              : failed("cannot make directory", below, errno);
}

Status Directory::make_directories(const fs::path& below) const {
  if (!is_plain(below)) {
    return failed("cannot make directory", below, EINVAL);
  }
  Descriptor reached;
  fs::path so_far;
  for (const fs::path& name : below) {
    const int at = reached ? reached.get() : descriptor_.get();
    so_far /= name;
    const bool made = ::mkdirat(at, name.c_str(), 0777) == 0 || errno == EEXIST;
    Descriptor next = made ? look_up_below(at, name, O_PATH | O_DIRECTORY, 0, rules_) : Descriptor();
    if (!next) {
      return failed("cannot make directory", so_far, errno);
    }
    reached = std::move(next);
  }
  return Done{};
}

Status Directory::make_link(const fs::path& target, const fs::path& below) const {
  const Result<Place> where = place("cannot make link", below);
  if (!where) {
    return where.error();
  }
  return ::symlinkat(target.c_str(), where->at, where->name.c_str()) == 0
             ? Status(Done{})
             : failed("cannot make link", below, errno);
}

Status Directory::remove(const fs::path& below) const {
  const Result<Place> where = place("cannot remove", below);
  if (!where) {
    return where.error().code == Errc::not_found ? Status(Done{}) : Status(where.error());
  }
  const bool gone =
      ::unlinkat(where->at, where->name.c_str(), 0) == 0 || errno == ENOENT ||
      (errno == EISDIR && (::unlinkat(where->at, where->name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT));
  return gone ? Status(Done{}) : failed("cannot remove", below, errno);
}

Status Directory::sync() const {
  // Some file systems can't sync a directory; they keep its order themselves.
  if (::fsync(descriptor_.get()) != 0 && errno != EINVAL && errno != EROFS) {
    return failed("cannot write", "", errno);
  }
  return Done{};
}

}  // namespace hpsearch::files
