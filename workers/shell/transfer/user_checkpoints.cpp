#include "hpsearch/workers/shell/transfer/user_checkpoints.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/proto/wire/checkpoint_owner.hpp"
#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/processes/unix_accounts.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::AttemptKey;
using engine::CheckpointReport;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using engine::Units;
using files::Directory;

namespace {

/// The part of `path` below `storage`; nothing if it is elsewhere.
std::optional<fs::path> below(const fs::path& path, const fs::path& storage) {
  const fs::path relative = path.lexically_normal().lexically_relative(storage.lexically_normal());
  const bool is_below = !storage.empty() && !relative.empty() && *relative.begin() != "..";
  return is_below ? std::optional(relative == "." ? fs::path() : relative) : std::nullopt;
}

/// Lets users pass through who know its path. The state directory above it stays closed to them.
Status let_through(const Directory& directory) {
  struct stat info {};
  const bool done = ::fstat(directory.descriptor(), &info) == 0 &&
                    ((info.st_mode & 0011U) == 0011U ||
                     ::fchmod(directory.descriptor(), (info.st_mode & 07777U) | 0011U) == 0);
  return done ? Status(Done{}) : Status(directory.failed("cannot change the mode of", "", errno));
}

/// Opens `relative` below the storage, and makes it if it doesn't exist.
Result<Directory> passable(const fs::path& storage, const fs::path& relative) {
  const Status made = make_directories(storage);
  Result<Directory> opened = made ? Directory::open(storage) : made.error();
  Status done = opened ? let_through(*opened) : Status(opened.error());
  for (auto part = relative.begin(); done && part != relative.end(); ++part) {
    done = opened->make_directories(*part);
    opened = done ? opened->directory(*part) : done.error();
    done = opened ? let_through(*opened) : Status(opened.error());
  }
  return done ? std::move(opened) : done.error();
}

/// With root's rights: opens the root and, in it, the experiment's directory, which is the user's.
Result<Directory> root_in_default_storage(const UnixAccount& account, const fs::path& storage,
                                          const fs::path& relative, const AttemptKey& key) {
  Result<Directory> root = passable(storage, relative);
  const Status own =
      root ? make_directory_of(account, storage / relative / std::to_string(key.experiment.number()))
           : Status(root.error());
  return own ? std::move(root) : own.error();
}

}  // namespace

Result<std::optional<CheckpointReport>> publish_checkpoint_as(const UnixAccount& account,
                                                              const OwnDirectory& from, const fs::path& root,
                                                              const fs::path& default_storage,
                                                              const AttemptKey& key, Units step,
                                                              std::uint64_t store) {
  const std::optional<fs::path> relative = below(root, default_storage);
  if (!relative) {
    const Result<FilesAs> user = FilesAs::begin(account);
    // This includes `from`: it is the user's, and the user may pass through the attempt's directory above it.
    return user ? publish_checkpoint(from, root, key, step, store) : user.error();
  }
  const Result<Directory> opened = open_own_directory(from);
  const Result<Directory> own =
      opened ? root_in_default_storage(account, default_storage, *relative, key) : opened.error();
  const Result<FilesAs> user = own ? FilesAs::begin(account) : Result<FilesAs>(own.error());
  return user ? publish_checkpoint(*opened, *own, key, step, store) : user.error();
}

Result<bool> bring_checkpoint(const UnixAccount& account, const jobs::LaunchSpec& spec,
                              const AttemptDirectory& attempt, bool& gone) {
  const std::optional<fs::path> relative = below(spec.latest_checkpoint, spec.default_storage);
  if (spec.latest_checkpoint.empty() || !relative || relative->empty()) {
    return false;
  }
  const std::string name = attempt.fetched().filename();
  const Result<Directory> root = attempt.opened();
  const Status made = root ? root->make_directory(name) : Status(root.error());
  const Status given = made ? files::give_tree(*root, name, static_cast<std::uint32_t>(account.uid),
                                               static_cast<std::uint32_t>(account.gid))
                            : made;
  const Result<Directory> to = given ? root->directory(name) : given.error();
  if (!to) {
    return to.error();
  }
  const Result<Directory> storage = Directory::open(spec.default_storage);
  const Result<FilesAs> user = storage ? FilesAs::begin(account) : Result<FilesAs>(storage.error());
  if (!user) {
    return user.error();
  }
  gone = storage->has(relative->parent_path().parent_path() / proto::checkpoint_owner_name);
  const Result<Directory> from = storage->directory(*relative);
  Status whole = from ? verify_checkpoint(*from) : Status(from.error());
  if (!whole) {
    const bool damaged = from && whole.error().code != Errc::unavailable;
    return Error{damaged ? Errc::corrupt : whole.error().code,
                 "its latest checkpoint " + spec.latest_checkpoint +
                     (damaged ? " is damaged: " : " cannot be read: ") + whole.error().message};
  }
  const Status linked = files::copy_content(*from, *to, files::Files::shared);
  return linked ? Result<bool>(true) : linked.error();
}

Status storage_is_writable(const UnixAccount& account, const jobs::LaunchSpec& spec) {
  if (spec.checkpoint_root.empty() || below(spec.checkpoint_root, spec.default_storage)) {
    return Done{};
  }
  Status writable = make_directories(spec.checkpoint_root);
  // Calls the kernel: access() uses the real user, and the C library computes the rest itself.
  if (writable &&
      ::syscall(SYS_faccessat2, AT_FDCWD, spec.checkpoint_root.c_str(), W_OK | X_OK, AT_EACCESS) != 0 &&
      errno == EACCES) {
    writable = file_error("cannot write to", spec.checkpoint_root, errno);
  }
  return writable ? writable
                  : Status(Error{Errc::bad_request, "checkpoint_storage: user " + account.name + " " +
                                                        writable.error().message});
}

}  // namespace hpsearch::workers
