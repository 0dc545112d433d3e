#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <vector>

#include "hpsearch/io/files/tree.hpp"

namespace hpsearch::files {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

Status copy_entry(const Directory& from, const std::string& name, const Directory& to,
                  const std::string& new_name, Files files, int depth);

Status copy_entries(const Directory& from, const Directory& to, Files files, int depth) {
  if (depth > deepest_tree) {
    return Error{Errc::bad_request, from.name().string() + " lies in more than " +
                                        std::to_string(deepest_tree) + " directories inside each other"};
  }
  const Result<std::vector<Entry>> entries = from.entries();
  if (!entries) {
    return entries.error();
  }
  for (const Entry& entry : *entries) {
    if (const Status copied = copy_entry(from, entry.name, to, entry.name, files, depth); !copied) {
      return copied;
    }
  }
  return Done{};
}

Status copy_directory(const Directory& from, const std::string& name, const Directory& to,
                      const std::string& new_name, Files files, int depth) {
  const Result<Directory> source = from.directory(name);
  if (!source) {
    return source.error();
  }
  struct stat info {};
  if (::fstat(source->descriptor(), &info) != 0) {
    return from.failed("cannot read", name, errno);
  }
  if (const Status made = to.make_directory(new_name); !made) {
    return made;
  }
  const Result<Directory> target = to.directory(new_name);
  if (!target) {
    return target.error();
  }
  if (const Status copied = copy_entries(*source, *target, files, depth + 1); !copied) {
    return copied;
  }
  // The mode is set last, because it may forbid writing there.
  return ::fchmod(target->descriptor(), info.st_mode & 07777U) == 0
             ? Status(Done{})
             : to.failed("cannot write", new_name, errno);
}

Status copy_entry(const Directory& from, const std::string& name, const Directory& to,
                  const std::string& new_name, Files files, int depth) {
  const Result<std::optional<Kind>> kind = from.kind(name);
  if (!kind) {
    return kind.error();
  }
  if (!kind->has_value()) {
    return from.failed("cannot read", name, ENOENT);
  }
  switch (**kind) {
    case Kind::file:
      if (files == Files::shared &&
          ::linkat(from.descriptor(), name.c_str(), to.descriptor(), new_name.c_str(), 0) == 0) {
        return Done{};
      }
      return copy_file(from, name, to, new_name);
    case Kind::directory:
      return copy_directory(from, name, to, new_name, files, depth);
    case Kind::link: {
      const Result<std::string> target = from.link_target(name);
      return target ? to.make_link(*target, new_name) : Status(target.error());
    }
    case Kind::other:
      break;
  }
  return Error{Errc::bad_request, (from.name() / name).string() + " is neither file, directory nor link"};
}

}  // namespace

Status copy_tree(const Directory& from, const std::string& name, const Directory& to,
                 const std::string& new_name) {
  return copy_entry(from, name, to, new_name, Files::copied, 0);
}

Status copy_content(const Directory& from, const Directory& to, Files files) {
  return copy_entries(from, to, files, 0);
}

Status move_entry(const Directory& from, const std::string& name, const Directory& to,
                  const std::string& new_name) {
  int moved =
      ::renameat2(from.descriptor(), name.c_str(), to.descriptor(), new_name.c_str(), RENAME_NOREPLACE);
  if (moved != 0 && (errno == EINVAL || errno == ENOSYS)) {  // Not every file system supports it.
    const Result<std::optional<Kind>> taken = to.kind(new_name);
    if (!taken) {
      return taken.error();
    }
    if (taken->has_value()) {
      return to.failed("cannot move to", new_name, EEXIST);
    }
    moved = ::renameat(from.descriptor(), name.c_str(), to.descriptor(), new_name.c_str());
  }
  if (moved == 0) {
    return Done{};
  }
  if (errno != EXDEV) {
    return to.failed("cannot move to", new_name, errno);
  }
  const Result<std::optional<Kind>> taken = to.kind(new_name);
  if (!taken || taken->has_value()) {
    return taken ? to.failed("cannot move to", new_name, EEXIST) : taken.error();
  }
  if (const Status copied = copy_tree(from, name, to, new_name); !copied) {
    static_cast<void>(remove_tree(to, new_name).has_value());
    return copied;
  }
  static_cast<void>(
      remove_tree(from, name).has_value());  // The copy is complete; the rest of the source is garbage.
  return Done{};
}

}  // namespace hpsearch::files
