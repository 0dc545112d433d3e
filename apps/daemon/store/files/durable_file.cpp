#include "daemon/store/files/durable_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) {
    ::close(number_);
  }
}

bool is_lack_of_room(int error) noexcept {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

Error system_error(const std::string& doing) {
  return Error{Errc::unavailable, doing + ": " + std::strerror(errno)};
}

Status write_all(int file, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return system_error("cannot write " + path);
    }
    bytes = bytes.subspan(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return Done{};
}

Status sync_directory(const std::string& path) {
  const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::fsync(directory.number()) != 0) {
    return system_error("cannot make " + path + " durable");
  }
  return Done{};
}

}  // namespace hpsearch::daemon
