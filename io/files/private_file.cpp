#include "hpsearch/io/files/private_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace hpsearch::files {

using engine::Errc;
using engine::Error;

engine::Result<std::string> read_private_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  struct stat found {};
  if (!file || ::stat(path.c_str(), &found) != 0) {
    return Error{Errc::unavailable, path + " cannot be read: " + std::strerror(errno)};
  }
  if (S_ISREG(found.st_mode) && (found.st_mode & S_IRWXO) != 0) {
    return Error{Errc::wrong_state,
                 path + " has secrets, and other users of this machine may use it; chmod o= " + path};
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace hpsearch::files
