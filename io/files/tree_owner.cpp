#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "hpsearch/io/files/tree.hpp"

namespace hpsearch::files {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

Status give(const Directory& parent, const Entry& entry, std::uint32_t uid, std::uint32_t gid, int depth) {
  if (depth > deepest_tree) {
    return Error{Errc::bad_request, (parent.name() / entry.name).string() + " lies in more than " +
                                        std::to_string(deepest_tree) + " directories inside each other"};
  }
  if (entry.kind == Kind::directory) {
    const Result<Directory> inside = parent.directory(entry.name);
    const Result<std::vector<Entry>> entries =
        inside ? inside->entries() : Result<std::vector<Entry>>(inside.error());
    if (!entries) {
      return entries.error();
    }
    for (const Entry& found : *entries) {
      if (const Status given = give(*inside, found, uid, gid, depth + 1); !given) {
        return given;
      }
    }
  }
  return ::fchownat(parent.descriptor(), entry.name.c_str(), uid, gid, AT_SYMLINK_NOFOLLOW) == 0
             ? Status(Done{})
             : Status(parent.failed("cannot change the owner of", entry.name, errno));
}

}  // namespace

Status give_tree(const Directory& parent, const std::string& name, std::uint32_t uid, std::uint32_t gid) {
  const Result<std::optional<Kind>> kind = parent.kind(name);
  if (!kind) {
    return kind.error();
  }
  return kind->has_value() ? give(parent, Entry{name, **kind}, uid, gid, 0)
                           : Status(parent.failed("cannot change the owner of", name, ENOENT));
}

}  // namespace hpsearch::files
