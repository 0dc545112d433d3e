#include "hpsearch/workers/shell/processes/unix_accounts.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

constexpr std::size_t room_for_an_entry = 65'536;

/// Sets the groups of this thread. The C library's function sets those of all threads.
bool set_groups(const std::vector<std::uint64_t>& groups) noexcept {
  std::vector<gid_t> plain(groups.begin(), groups.end());
  return ::syscall(SYS_setgroups, plain.size(), plain.data()) == 0;
}

/// Sets the group first: without root's rights a thread could still change it, but shouldn't need to.
bool set_files(std::uint64_t uid, std::uint64_t gid) noexcept {
  constexpr unsigned unchanged = ~0U;  // An invalid id: the call returns the current one.
  ::setfsgid(static_cast<gid_t>(gid));
  ::setfsuid(static_cast<uid_t>(uid));
  return static_cast<gid_t>(::setfsgid(unchanged)) == gid && static_cast<uid_t>(::setfsuid(unchanged)) == uid;
}

}  // namespace

Result<std::optional<UnixAccount>> find_account(const proto::UnixUser& user) {
  std::vector<char> room(room_for_an_entry);
  passwd entry{};
  passwd* found = nullptr;
  const int error = ::getpwnam_r(user.name().c_str(), &entry, room.data(), room.size(), &found);
  if (found == nullptr) {
    // Some services return these if there is no such user (getpwnam(3)).
    const bool none = error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM;
    return none ? Result<std::optional<UnixAccount>>(std::nullopt)
                : Error{Errc::unavailable,
                        "cannot look up the user " + user.name() + ": " + error_text(error)};
  }
  std::vector<gid_t> groups(64);
  int count = static_cast<int>(groups.size());
  while (::getgrouplist(found->pw_name, found->pw_gid, groups.data(), &count) < 0) {
    groups.resize(std::max<std::size_t>(static_cast<std::size_t>(count), groups.size() * 2));
    count = static_cast<int>(groups.size());
  }
  return std::optional(UnixAccount{.name = found->pw_name,
                                   .uid = found->pw_uid,
                                   .gid = found->pw_gid,
                                   .groups = {groups.begin(), groups.begin() + count},
                                   .home = found->pw_dir});
}

Result<FilesAs> FilesAs::begin(const std::optional<UnixAccount>& account) {
  if (!account) {
    return FilesAs(std::nullopt);
  }
  const int count = ::getgroups(0, nullptr);
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(count, 0)));
  if (count < 0 || ::getgroups(count, groups.data()) < 0) {
    return Error{Errc::unavailable, "cannot read the groups of this process: " + error_text(errno)};
  }
  const Error lacks{Errc::unavailable, "this worker may not act as user " + account->name +
                                           ": it lacks the capabilities of root (CAP_SETUID, CAP_SETGID)"};
  if (!set_groups(account->groups)) {
    return lacks;
  }
  FilesAs acting(UnixAccount{.name = "",
                             .uid = ::geteuid(),
                             .gid = ::getegid(),
                             .groups = {groups.begin(), groups.end()},
                             .home = ""});
  return set_files(account->uid, account->gid) ? Result<FilesAs>(std::move(acting)) : lacks;
}

Status make_directory_of(const UnixAccount& account, const std::filesystem::path& path) {
  const auto uid = static_cast<uid_t>(account.uid);
  struct stat found {};
  if ((::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) || ::lstat(path.c_str(), &found) != 0) {
    return file_error("cannot make directory", path, errno);
  }
  std::error_code error;
  // An empty directory of root's: made now, or by a worker that ended before the next line.
  const bool fresh = S_ISDIR(found.st_mode) && found.st_uid == 0 && std::filesystem::is_empty(path, error);
  if (fresh && ::lchown(path.c_str(), uid, static_cast<gid_t>(account.gid)) != 0) {
    return file_error("cannot change the owner of", path, errno);
  }
  return fresh || (S_ISDIR(found.st_mode) && found.st_uid == uid)
             ? Status(engine::Done{})
             : Status(Error{Errc::wrong_state, path.string() + " is not a directory of user " + account.name +
                                                   " (uid " + std::to_string(account.uid) + ")"});
}

FilesAs::~FilesAs() {
  if (before_) {
    // If a user's rights stayed, this thread's next files would belong to that user.
    const bool back = set_files(before_->uid, before_->gid) && set_groups(before_->groups);
    HPSEARCH_CHECK(back, "root gets its own rights back");
  }
}

}  // namespace hpsearch::workers
