#include "daemon/store/files/store_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;

// The SQLite documentation, "File Locking And Concurrency": the pending byte, the reserved byte and 510
// shared ones.
constexpr off_t first_sqlite_byte = 0x40000000;
constexpr off_t sqlite_bytes = 512;

struct flock write_lock(off_t first, off_t count) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = first;
  lock.l_len = count;
  return lock;
}

}  // namespace

Result<StoreLock> StoreLock::take(const std::string& path, Missing missing) {
  const int make = missing == Missing::made ? O_CREAT : 0;
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | make, 0600));
  if (!file) {
    if (errno == ENOENT && missing == Missing::refused) {
      return Error{Errc::not_found, "there is no " + path};
    }
    return system_error("cannot open " + path);
  }
  struct flock ours = write_lock(first_sqlite_byte + sqlite_bytes, 1);
  bool free = ::fcntl(file.get(), F_OFD_SETLK, &ours) == 0;
  if (!free && errno != EAGAIN && errno != EACCES) {
    return system_error("cannot lock " + path);
  }
  if (free) {
    struct flock of_sqlite = write_lock(first_sqlite_byte, sqlite_bytes);
    if (::fcntl(file.get(), F_OFD_GETLK, &of_sqlite) != 0) {
      return system_error("cannot lock " + path);
    }
    free = of_sqlite.l_type == F_UNLCK;
  }
  if (!free) {
    return Error{Errc::wrong_state, path + " is in use: another process has it open"};
  }
  StoreLock lock(std::move(file));
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0 || !lock.is_on({there.st_dev, there.st_ino})) {
    return Error{Errc::wrong_state, path + " was removed or replaced while it was opened"};
  }
  return lock;
}

bool StoreLock::is_on(const FileIdentity& file) const noexcept {
  struct stat ours {};
  return !file_ || (::fstat(file_.get(), &ours) == 0 && file == FileIdentity{ours.st_dev, ours.st_ino});
}

}  // namespace hpsearch::daemon
