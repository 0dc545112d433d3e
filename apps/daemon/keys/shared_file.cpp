#include "daemon/keys/shared_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <utility>

#include "daemon/store/files/file_sync.hpp"
#include "daemon/store/files/file_system.hpp"
#include "daemon/store/files/own_file.hpp"

namespace hpsearch::daemon {

using engine::Errc;
using engine::Result;

FileStamp FileStamp::of(const std::string& path) noexcept {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    return {};
  }
  return {found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

Result<files::Descriptor> lock_beside(const std::string& path) {
  files::Descriptor lock(::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock || ::flock(lock.get(), LOCK_EX) != 0) {
    return system_error("cannot lock " + path);
  }
  return lock;
}

Result<std::string> text_of_own_file(const std::string& path) {
  if (const engine::Status believed = check_written_by_owner_alone(path); !believed) {
    return believed.error();
  }
  const auto bytes = kernel_files().read(path);
  if (!bytes) {
    return bytes.error().code == Errc::not_found ? Result<std::string>(std::string()) : bytes.error();
  }
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

}  // namespace hpsearch::daemon
