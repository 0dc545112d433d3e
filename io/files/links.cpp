#include "hpsearch/io/files/links.hpp"

#include <cstddef>

#include "hpsearch/io/files/tree.hpp"

namespace hpsearch::files {
namespace {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

Status remove_below(const Directory& at, const fs::path& below, int depth,
                    std::vector<std::string>& removed) {
  if (depth > deepest_tree) {
    return Error{Errc::bad_request, at.name().string() + " has too many directories inside each other"};
  }
  const Result<std::vector<Entry>> entries = at.entries();
  if (!entries) {
    return entries.error();
  }
  for (const Entry& entry : *entries) {
    const fs::path path = below / entry.name;
    Status done = Done{};
    if (entry.kind == Kind::directory) {
      const Result<Directory> inside = at.directory(entry.name);
      done = inside ? remove_below(*inside, path, depth + 1, removed) : Status(inside.error());
    } else if (entry.kind == Kind::link) {
      const Result<std::string> target = at.link_target(entry.name);
      if (!target || !leads_inside(path, *target)) {
        done = at.remove(entry.name);
        removed.push_back(path.string());
      }
    }
    if (!done) {
      return done;
    }
  }
  return Done{};
}

}  // namespace

bool leads_inside(const fs::path& link, const fs::path& target) {
  if (target.empty() || target.is_absolute()) {
    return false;
  }
  std::ptrdiff_t above = 0;  // How many ".." the target may still have: the directories above the link.
  for (const fs::path& part : link.lexically_normal().parent_path()) {
    above += part.empty() ? 0 : 1;
  }
  bool named = false;
  for (const fs::path& part : target) {
    if (part == "..") {
      --above;
      if (named || above < 0) {
        return false;  // After a name, the target is unknown, because the name may be a link.
      }
    } else if (!part.empty() && part != ".") {
      named = true;
    }
  }
  return true;
}

Result<std::vector<std::string>> remove_links_out(const Directory& directory) {
  std::vector<std::string> removed;
  const Status done = remove_below(directory, {}, 0, removed);
  return done ? Result<std::vector<std::string>>(std::move(removed))
              : Result<std::vector<std::string>>(done.error());
}

}  // namespace hpsearch::files
