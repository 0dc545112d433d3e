#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "hpsearch/io/files/tree.hpp"

namespace hpsearch::files {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

// The maximum number of open directories. Deeper ones are moved up first.
constexpr int most_open = 64;
// Another process may keep writing into the tree, or exchange its parts. After this many tries the removal
// fails.
constexpr int most_tries = 100;
constexpr std::uint64_t most_raised = 1'000'000;

/// Gives the owner the rights to list and to remove the content.
bool give_rights(const Directory& in, const std::string& name) {
  const Descriptor there = in.look_up(name, O_PATH | O_DIRECTORY);
  struct stat info {};
  if (!there || ::fstat(there.get(), &info) != 0 || (info.st_mode & 0700U) == 0700U) {
    return false;
  }
  // By descriptor, because the name may stand for another file now.
  return ::chmod(("/proc/self/fd/" + std::to_string(there.get())).c_str(), (info.st_mode & 07777U) | 0700U) ==
         0;
}

class Removal {
 public:
  /// False if something stays.
  bool entry(const Directory& in, const std::string& name, int depth) {
    bool rights_given = false;
    for (int tries = 0; tries < most_tries; ++tries) {
      if (::unlinkat(in.descriptor(), name.c_str(), 0) == 0 || errno == ENOENT) {
        return true;
      }
      if (errno != EISDIR) {
        return stays(in, name, errno);
      }
      Descriptor opened = in.look_up(name, O_RDONLY | O_DIRECTORY);
      if (!opened && errno == EACCES && !rights_given) {
        rights_given = give_rights(in, name);
        if (rights_given) {
          continue;
        }
        errno = EACCES;
      }
      if (!opened && (errno == ENOTDIR || errno == ELOOP || errno == ENOENT)) {
        continue;  // Exchanged meanwhile.
      }
      if (!opened) {
        return stays(in, name, errno);
      }
      const Directory directory(std::move(opened), in.name() / name, in.rules());
      struct stat info {};
      if (::fstat(directory.descriptor(), &info) == 0 && (info.st_mode & 0700U) != 0700U) {
        ::fchmod(directory.descriptor(), (info.st_mode & 07777U) | 0700U);
      }
      const std::uint64_t raised_before = raised_;
      const bool all = content(directory, depth);
      if (raised_ > raised_before && raised_ < most_raised) {
        tries = 0;  // New entries have appeared.
        continue;
      }
      if (!all) {
        return false;
      }
      if (::unlinkat(in.descriptor(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) {
        return true;
      }
      if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) {
        return stays(in, name, errno);
      }
    }
    return stays(in, name, ENOTEMPTY);
  }

  bool content(const Directory& directory, int depth) {
    const Directory* const top = std::exchange(top_, top_ == nullptr ? &directory : top_);
    const Result<std::vector<Entry>> entries = directory.entries();
    bool all = entries.has_value();
    if (!all && !first_) {
      first_ = entries.error();
    }
    for (std::size_t i = 0; entries && i < entries->size(); ++i) {
      const Entry& found = (*entries)[i];
      const bool too_deep = depth >= most_open && found.kind == Kind::directory;
      all = ((too_deep && bring_up(directory, found.name)) || entry(directory, found.name, depth + 1)) && all;
    }
    top_ = top;
    return all;
  }

  /// Repeats for directories that were moved up to this one.
  void whole_content(const Directory& directory) {
    for (std::uint64_t before = raised_;; before = raised_) {
      content(directory, 0);
      if (raised_ == before || raised_ >= most_raised) {
        return;
      }
    }
  }

  [[nodiscard]] Status result() const { return first_ ? Status(*first_) : Status(Done{}); }

 private:
  bool stays(const Directory& in, const std::string& name, int error) {
    if (!first_) {
      first_ = in.failed("cannot remove", name, error);
    }
    return false;
  }

  /// Moves a directory to the top of the tree, where the next pass finds it.
  bool bring_up(const Directory& in, const std::string& name) {
    for (int tries = 0; tries < most_tries; ++tries) {
      const std::string raised = ".removed-" + std::to_string(++raised_);
      if (::renameat2(in.descriptor(), name.c_str(), top_->descriptor(), raised.c_str(), RENAME_NOREPLACE) ==
          0) {
        return true;
      }
      if (errno == EACCES && give_rights(in, name)) {
        continue;  // Moving a directory writes its "..".
      }
      if (errno != EEXIST) {
        return false;
      }
    }
    return false;
  }

  const Directory* top_ = nullptr;
  std::uint64_t raised_ = 0;
  std::optional<Error> first_;
};

}  // namespace

Status remove_tree(const Directory& parent, const std::string& name) noexcept {
  try {
    Removal removal;
    removal.entry(parent, name, 0);
    return removal.result();
  } catch (const std::exception& error) {  // Out of memory.
    return Error{Errc::unavailable, error.what()};
  }
}

Status remove_content(const Directory& directory) noexcept {
  try {
    Removal removal;
    removal.whole_content(directory);
    return removal.result();
  } catch (const std::exception& error) {
    return Error{Errc::unavailable, error.what()};
  }
}

}  // namespace hpsearch::files
