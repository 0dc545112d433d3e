#include "files/lookup.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hpsearch::files {

namespace {

Descriptor at_once(int directory, const std::string& path, int flags, mode_t mode, Rules rules) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  if (rules.mounts == Rules::Mounts::refused) {
    how.resolve |= RESOLVE_NO_XDEV;
  }
  const long opened = ::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how);
  return Descriptor(static_cast<int>(opened));
}

/// The number of the mount that an open file is on; nothing without /proc.
std::optional<std::uint64_t> mount_of(int file) {
  const std::string info = "/proc/self/fdinfo/" + std::to_string(file);
  const Descriptor opened(::open(info.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> text{};
  const ssize_t got = opened ? ::read(opened.get(), text.data(), text.size()) : -1;
  const std::string_view all(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  constexpr std::string_view key = "mnt_id:";
  const std::size_t found = all.find(key);
  const std::size_t digits =
      found == std::string_view::npos ? found : all.find_first_of("0123456789", found + key.size());
  if (digits == std::string_view::npos) {
    return std::nullopt;
  }
  std::uint64_t number = 0;
  std::from_chars(all.data() + digits, all.data() + all.size(), number);
  return number;
}

bool on_the_same_mount(int one, int other) {
  const auto first = mount_of(one);
  const auto second = mount_of(other);
  if (first && second) {
    return *first == *second;
  }
  struct stat here {};
  struct stat there {};
  return ::fstat(one, &here) == 0 && ::fstat(other, &there) == 0 && here.st_dev == there.st_dev;
}

Descriptor by_steps(int directory, const std::string& path, int flags, mode_t mode, Rules rules) {
  Descriptor reached;
  int at = directory;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    const bool last = end == path.size();
    Descriptor next(last ? ::openat(at, name.c_str(), flags, mode)
                         : ::openat(at, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) {
      const int error = errno;
      struct stat info {};
      const bool is_link = error == ENOTDIR && ::fstatat(at, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                           S_ISLNK(info.st_mode);
      errno = is_link ? ELOOP : error;  // The error that openat2() gives.
      return next;
    }
    if (rules.mounts == Rules::Mounts::refused && !on_the_same_mount(at, next.get())) {
      errno = EXDEV;
      return {};
    }
    if (last) {
      return next;
    }
    reached = std::move(next);
    at = reached.get();
    begin = end + 1;
  }
}

}  // namespace

bool is_plain(const std::filesystem::path& path) {
  const std::string_view text = path.native();
  if (text.empty() || text.find('\0') != std::string_view::npos) {
    return false;
  }
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('/', at), text.size());
    const std::string_view name = text.substr(at, end - at);
    if (name.empty() || name == "." || name == "..") {
      return false;
    }
    at = end + 1;
  }
  return true;
}

Descriptor look_up_below(int directory, const std::filesystem::path& path, int flags, mode_t mode,
                         Rules rules) {
  static std::atomic<bool> has_openat2{true};
  const std::string& text = path.native();
  if (!is_plain(path)) {
    errno = EINVAL;
    return {};
  }
  const int all = flags | O_NOFOLLOW | O_CLOEXEC;
  if (rules.lookup == Rules::Lookup::at_once && has_openat2) {
    Descriptor found = at_once(directory, text, all, mode, rules);
    // Old kernels lack it, and filters of containers may refuse unknown calls.
    if (found || (errno != ENOSYS && errno != EPERM)) {
      return found;
    }
    has_openat2 = errno != ENOSYS;
  }
  return by_steps(directory, text, all, mode, rules);
}

}  // namespace hpsearch::files
