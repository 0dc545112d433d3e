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

/// Whether a child that does nothing else may have mounts of its own. Only system calls after fork().
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

std::vector<std::string> under_mounts(const std::vector<jobs::BindMount>& mounts,
                                      std::vector<std::string> argv) {
  constexpr const char* script = R"sh(
while [ "$1" != -- ]; do
  /usr/bin/mount --bind "$1" "$2" && { [ "$3" = rw ] || /usr/bin/mount -o remount,bind,ro "$2"; } || {
    echo "hpsearch: cannot mount $1 at $2" >&2
    exit 1
  }
  shift 3
done
shift
exec "$@")sh";
  std::vector<std::string> all{unshare_program, "--mount", "--propagation", "private", "--",
                               "/bin/sh",       "-c",      script,          "hpsearch"};
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
