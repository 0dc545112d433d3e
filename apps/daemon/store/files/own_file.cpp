#include "daemon/store/files/own_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "daemon/store/files/file_sync.hpp"

namespace hpsearch::daemon {

engine::Status check_written_by_owner_alone(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    return errno == ENOENT ? engine::Status(engine::Done{}) : system_error("cannot look at " + path);
  }
  if (found.st_uid != ::geteuid() && found.st_uid != 0) {
    return engine::Error{engine::Errc::corrupt,
                         path + " belongs to user " + std::to_string(found.st_uid) +
                             ", who could let anyone in; look at what is in it, then: chown " +
                             std::to_string(::geteuid()) + " " + path};
  }
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return engine::Error{engine::Errc::corrupt,
                         "others may write " + path +
                             " and could let anyone in; look at what is in it, then: chmod 600 " + path};
  }
  return engine::Done{};
}

}  // namespace hpsearch::daemon
