#include "daemon/store/files/file_sync.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hpsearch/io/files/file_bytes.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;

}  // namespace

bool is_lack_of_room(int error) noexcept {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

Error system_error(const std::string& doing) {
  return Error{Errc::unavailable, doing + ": " + std::strerror(errno)};
}

Status write_all(int file, std::span<const std::byte> bytes, const std::string& path) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return files::write_all(file, text) ? Status(Done{}) : system_error("cannot write " + path);
}

Status sync_directory(const std::string& path) {
  const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::fsync(directory.get()) != 0) {
    return system_error("cannot make " + path + " durable");
  }
  return Done{};
}

}  // namespace hpsearch::daemon
