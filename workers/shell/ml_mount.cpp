#include "hpsearch/workers/shell/ml_mount.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

namespace hpsearch::workers {

namespace {

constexpr const char* unshare_program = "/usr/bin/unshare";
constexpr const char* mount_program = "/usr/bin/mount";

/// Whether a child process may have its own mounts. The child only makes system calls after fork().
bool may_have_own_mounts() {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool may =
        ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    ::_exit(may ? 0 : 1);
  }
  int status = 1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool ask() {
  std::error_code error;
  return ::geteuid() == 0 && std::filesystem::exists(unshare_program, error) &&
         std::filesystem::exists(mount_program, error) && may_have_own_mounts();
}

bool make_ml() {
  std::error_code error;
  const std::filesystem::path ml(ml_mount_point);
  std::filesystem::create_directory(ml, error);
  return std::filesystem::is_directory(ml, error);
}

}  // namespace

bool can_mount() {
  static const bool can = ask();
  return can;
}

bool can_mount_ml() {
  static const bool can = can_mount() && make_ml();
  return can;
}

std::vector<std::string> under_mounts(const std::vector<jobs::BindMount>& mounts, const OwnRoot& own,
                                      std::vector<std::string> argv) {
  // The new root is unbindable, so a bind mount below it doesn't include the new root itself.
  constexpr const char* script = R"sh(
fail() {
  echo "hpsearch: cannot mount $1 at $2" >&2
  exit 1
}
view() {
  for from in "$1"/* "$1"/.[!.]*; do
    to=$root$from
    if [ -L "$from" ]; then
      /usr/bin/cp -P "$from" "$to" || fail "$from" "$to"
    elif [ -d "$from" ]; then
      /usr/bin/mkdir "$to" || fail "$from" "$to"
      case $levels in
        *"|$from|"*) (view "$from") || exit 1 ;;
        *) /usr/bin/mount --rbind "$from" "$to" || fail "$from" "$to" ;;
      esac
    elif [ -e "$from" ]; then
      : >"$to" && /usr/bin/mount --bind "$from" "$to" || fail "$from" "$to"
    fi
  done
}
root=$1
levels=$2
shift 2
if [ -n "$root" ]; then
  /usr/bin/mount -t tmpfs -o mode=755,size=1m,nosuid,nodev hpsearch "$root" &&
    /usr/bin/mount --make-unbindable "$root" || fail "a root" "$root"
  view ""
fi
while [ "$1" != -- ]; do
  to=$root$2
  if [ -n "$root" ] && ! [ -e "$to" ]; then
    if [ -d "$1" ]; then
      /usr/bin/mkdir -p "$to"
    else
      /usr/bin/mkdir -p "${to%/*}" && : >"$to"
    fi
  fi
  /usr/bin/mount --bind "$1" "$to" && { [ "$3" = rw ] || /usr/bin/mount -o remount,bind,ro "$to"; } ||
    fail "$1" "$2"
  shift 3
done
shift
if [ -n "$root" ]; then
  /usr/bin/mount -o remount,ro "$root" || fail "a root" "$root"
  exec /usr/sbin/chroot "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$(pwd)" "$@"
fi
exec "$@")sh";
  std::string levels = "|";
  for (const std::string& level : own.levels) {
    levels += level + "|";
  }
  std::vector<std::string> all{unshare_program, "--mount",  "--propagation", "private", "--", "/bin/sh", "-c",
                               script,          "hpsearch", own.root,        levels};
  for (const jobs::BindMount& mount : mounts) {
    all.insert(all.end(), {mount.host_path, mount.container_path, mount.read_only ? "ro" : "rw"});
  }
  all.emplace_back("--");
  for (std::string& item : argv) {
    all.push_back(std::move(item));
  }
  return all;
}

std::vector<std::string> under_ml(const std::string& tree, std::vector<std::string> argv) {
  std::vector<std::string> all{unshare_program,
                               "--mount",
                               "--propagation",
                               "private",
                               "--",
                               "/bin/sh",
                               "-c",
                               R"(/usr/bin/mount --bind "$0" /ml && cd /ml/usercode && exec "$@")",
                               tree};
  for (std::string& item : argv) {
    all.push_back(std::move(item));
  }
  return all;
}

}  // namespace hpsearch::workers
