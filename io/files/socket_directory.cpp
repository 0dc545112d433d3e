#include "hpsearch/io/files/socket_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "hpsearch/io/files/file_system_kind.hpp"
#include "hpsearch/io/files/sha256.hpp"

namespace hpsearch::files {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;

constexpr std::size_t hash_digits = 16;
constexpr std::string_view below_runtime = "/hpsearch";
constexpr std::size_t longest_runtime = SocketDirectory::longest - below_runtime.size() - 1 - hash_digits;

/// Whether it is a directory of this user, no link, closed to others.
bool is_private(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == ::geteuid() &&
         (found.st_mode & 0077U) == 0;
}

constexpr std::string_view remedy = "set XDG_RUNTIME_DIR to such a directory";

}  // namespace

Status make_for_this_user(const std::string& path, std::string_view remedy) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{Errc::unavailable, "cannot make the directory " + path + ": " + std::strerror(errno)};
  }
  return is_private(path) ? Status(Done{})
                          : Status(Error{Errc::unavailable, path +
                                                                " is not a private directory (mode 0700) "
                                                                "of this user; remove it, or " +
                                                                std::string(remedy)});
}

SocketDirectory SocketDirectory::of(const std::string& state_directory) {
  return of(state_directory, std::getenv("XDG_RUNTIME_DIR"), "/tmp");
}

SocketDirectory SocketDirectory::of(const std::string& state_directory, const char* runtime_directory,
                                    const std::string& temporary) {
  const std::string runtime(runtime_directory == nullptr ? "" : runtime_directory);
  const bool usable = runtime.starts_with('/') && runtime.size() <= longest_runtime && is_private(runtime) &&
                      file_system_at(runtime).trust == Trust::local;
  return {
      usable ? runtime + std::string(below_runtime) : temporary + "/hpsearch-" + std::to_string(::geteuid()),
      files::sha256_of(state_directory).substr(0, hash_digits)};
}

Status SocketDirectory::make() const {
  if (Status made = make_for_this_user(parent_, remedy); !made) {
    return made;
  }
  return make_for_this_user(path_, remedy);
}

void SocketDirectory::remove_if_empty() const noexcept {
  ::rmdir(path_.c_str());
}

}  // namespace hpsearch::files
