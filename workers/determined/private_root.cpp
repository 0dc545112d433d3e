#include "hpsearch/workers/determined/private_root.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;
namespace fs = std::filesystem;

namespace {

using Places = std::map<fs::path, fs::path>;

Error refused(const std::string& doing, int error) {
  return Error{Errc::unavailable, doing + ": " + error_text(error)};
}

bool write_text(const char* path, const std::string& text) {
  const Descriptor file(::open(path, O_WRONLY | O_CLOEXEC));
  return file && write_all(file.get(), text);
}

Status leave_shared_namespace() {
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  if (::unshare(CLONE_NEWNS) == 0) {
    return Done{};
  }
  const int without_user_namespace = errno;
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
    return refused("this user may make neither a mount namespace (" + error_text(without_user_namespace) +
                       ") nor a user namespace",
                   errno);
  }
  const auto itself = [](auto id) { return std::to_string(id) + " " + std::to_string(id) + " 1"; };
  if (!write_text("/proc/self/setgroups", "deny") || !write_text("/proc/self/uid_map", itself(user)) ||
      !write_text("/proc/self/gid_map", itself(group))) {
    return refused("cannot name this user in its own namespace", errno);
  }
  return Done{};
}

Status mount_over(const fs::path& from, const fs::path& to) {
  if (::mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return refused("cannot mount " + from.string() + " in a private root", errno);
  }
  return Done{};
}

/// Whether `at` is one of the places, or a place is below it.
bool leads_to(const Places& places, const fs::path& at) {
  return std::any_of(places.begin(), places.end(), [&](const auto& place) {
    const auto [end, rest] = std::mismatch(at.begin(), at.end(), place.first.begin(), place.first.end());
    static_cast<void>(rest);
    return end == at.end();
  });
}

/// Mounts one entry of the machine at `to`.
Status show(const fs::path& from, const fs::path& to) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(from, error);
  if (error) {
    return Done{};  // It has exited, or belongs to another user.
  }
  if (fs::is_symlink(status)) {
    fs::copy_symlink(from, to, error);
    return Done{};
  }
  if (fs::is_directory(status)) {
    if (::mkdir(to.c_str(), 0755) != 0) {
      return refused("cannot make " + to.string(), errno);
    }
    return mount_over(from, to);
  }
  const Descriptor file(::open(to.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  return file ? mount_over(from, to) : refused("cannot make " + to.string(), errno);
}

/// Builds `to`, the new view of the directory `from`: directories above a place are new, all others are
/// the machine's.
Status build(const fs::path& from, const fs::path& to, const Places& places) {
  const auto here = places.find(from);
  if (here != places.end()) {
    return mount_over(here->second, to);
  }
  std::error_code error;
  for (fs::directory_iterator at(from, error), end; !error && at != end; at.increment(error)) {
    if (!leads_to(places, at->path())) {
      if (const Status shown = show(at->path(), to / at->path().filename()); !shown) {
        return shown;
      }
    }
  }
  for (const auto& [place, source] : places) {
    const fs::path below = place.lexically_relative(from);
    if (below.empty() || *below.begin() == "..") {
      continue;
    }
    const fs::path next = *below.begin();
    if (::mkdir((to / next).c_str(), 0755) == 0) {  // Otherwise it exists for another place below it.
      if (const Status built = build(from / next, to / next, places); !built) {
        return built;
      }
    }
  }
  return Done{};
}

Status change_root(const fs::path& root) {
  if (::chdir(root.c_str()) != 0) {
    return refused("cannot enter a private root", errno);
  }
  // The old root is mounted over the new one and then detached; a root that can't be moved stays underneath.
  if (::syscall(SYS_pivot_root, ".", ".") == 0) {
    if (::umount2(".", MNT_DETACH) != 0) {
      return refused("cannot leave the machine's root", errno);
    }
  } else if (::chroot(".") != 0) {
    return refused("cannot change to a private root", errno);
  }
  return ::chdir("/") == 0 ? Status(Done{}) : refused("cannot enter a private root", errno);
}

}  // namespace

Status enter_private_root(const fs::path& scratch, const Places& places) {
  if (const Status left = leave_shared_namespace(); !left) {
    return left;
  }
  // From here on, mounts must not be visible outside; otherwise a later removal there would delete files
  // inside them.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return refused("cannot make mounts private", errno);
  }
  if (::mount("hpsearch", scratch.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") != 0) {
    return refused("cannot mount a private root on " + scratch.string(), errno);
  }
  // It is below a directory that is mounted in it.
  if (::mount(nullptr, scratch.c_str(), nullptr, MS_UNBINDABLE, nullptr) != 0) {
    return refused("cannot keep a private root out of itself", errno);
  }
  if (const Status built = build("/", scratch, places); !built) {
    return built;
  }
  return change_root(scratch);
}

}  // namespace hpsearch::workers
