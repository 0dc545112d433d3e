#include "daemon/state_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

Error system_error(const std::string& doing) {
  return Error{Errc::unavailable, doing + ": " + std::strerror(errno)};
}

/// A descriptor that is closed when it goes.
class File {
 public:
  explicit File(int number) : number_(number) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  [[nodiscard]] explicit operator bool() const noexcept { return number_ >= 0; }
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

Status write_all(int file, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return system_error("cannot write " + path);
    }
    text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return Done{};
}

Status sync_directory(const std::string& path) {
  const File directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::fsync(directory.number()) != 0) {
    return system_error("cannot make " + path + " durable");
  }
  return Done{};
}

/// Makes `path` and what is missing above it, each entry durable in its parent.
Status make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0) {
    const std::size_t slash = path.rfind('/');
    return sync_directory(slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash));
  }
  if (errno == EEXIST) {
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) {
      return Done{};
    }
    errno = ENOTDIR;
  }
  const std::size_t slash = path.rfind('/');
  if (errno != ENOENT || slash == 0 || slash == std::string::npos) {
    return system_error("cannot make the directory " + path);
  }
  if (auto made = make_directory(path.substr(0, slash)); !made) {
    return made;
  }
  return make_directory(path);
}

Result<std::string> absolute(std::string path) {
  if (path.empty()) {
    return Error{Errc::bad_request, "the state directory has no name"};
  }
  if (path.front() != '/') {
    const std::unique_ptr<char, decltype(&std::free)> here(::get_current_dir_name(), &std::free);
    if (!here) {
      return system_error("cannot tell the current directory");
    }
    path = std::string(here.get()) + "/" + path;
  }
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  return path;
}

std::string holder_of(int lock) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(lock, text.data(), text.size() - 1, 0);
  std::string pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!pid.empty() && (pid.back() < '0' || pid.back() > '9')) {
    pid.pop_back();
  }
  return pid;
}

}  // namespace

Result<std::unique_ptr<StateDirectory>> StateDirectory::open(const std::string& given) {
  auto path = absolute(given);
  if (!path) {
    return path.error();
  }
  if (auto made = make_directory(*path); !made) {
    return made.error();
  }
  const std::string lock_path = *path + "/lock";
  File lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) {
    return system_error("cannot open " + lock_path);
  }
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  // An open-file-description lock: it belongs to this descriptor, not to whoever in the process opens the
  // file.
  if (::fcntl(lock.number(), F_OFD_SETLK, &whole) != 0) {
    if (errno != EAGAIN && errno != EACCES) {
      return system_error("cannot lock " + lock_path);
    }
    const std::string pid = holder_of(lock.number());
    return Error{Errc::wrong_state, "the state directory " + *path + " is in use by " +
                                        (pid.empty() ? "another process" : "process " + pid) +
                                        "; end that one, or give this one another --state-dir"};
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock.number(), 0) != 0) {
    return system_error("cannot write " + lock_path);
  }
  if (auto written = write_all(lock.number(), pid, lock_path); !written) {
    return written.error();
  }
  std::unique_ptr<StateDirectory> directory(new StateDirectory(std::move(path).value(), lock.release()));
  directory->retract();  // What a daemon that was killed left behind says where nobody listens.
  if (auto made = make_directory(directory->checkpoints()); !made) {
    return made.error();
  }
  return directory;
}

StateDirectory::~StateDirectory() {
  ::close(lock_);
}

Status StateDirectory::announce(const Announcement& announcement) {
  const engine::Value::Map value{{"pid", static_cast<std::int64_t>(::getpid())},
                                 {"http", announcement.http},
                                 {"workers", announcement.workers},
                                 {"version", announcement.version},
                                 {"daemon_epoch", static_cast<std::int64_t>(announcement.daemon_epoch)}};
  const std::string path = path_ + "/daemon.json";
  const std::string draft = path + ".new";
  {
    const File file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file) {
      return system_error("cannot write " + draft);
    }
    if (auto written = write_all(file.number(), engine::compact_json(value) + "\n", draft); !written) {
      return written;
    }
  }
  // Atomic for readers; not synced, since it says nothing that outlives this process.
  if (::rename(draft.c_str(), path.c_str()) != 0) {
    return system_error("cannot write " + path);
  }
  return Done{};
}

void StateDirectory::retract() noexcept {
  ::unlink((path_ + "/daemon.json").c_str());
}

}  // namespace hpsearch::daemon
