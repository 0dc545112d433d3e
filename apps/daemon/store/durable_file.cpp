#include "daemon/store/durable_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

Status write_draft(const std::string& draft, std::span<const std::span<const std::byte>> parts) {
  const Descriptor file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) {
    return system_error("cannot write " + draft);
  }
  for (const std::span<const std::byte> part : parts) {
    if (auto written = write_all(file.number(), part, draft); !written) {
      return written;
    }
  }
  if (::fsync(file.number()) != 0) {
    return system_error("cannot make " + draft + " durable");
  }
  return Done{};
}

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

Status write_file_durably(const std::string& path, std::span<const std::span<const std::byte>> parts) {
  const std::string draft = path + ".new";
  if (auto written = write_draft(draft, parts); !written) {
    ::unlink(draft.c_str());
    return written;
  }
  if (::rename(draft.c_str(), path.c_str()) != 0) {
    const Error error = system_error("cannot write " + path);
    ::unlink(draft.c_str());
    return error;
  }
  return sync_directory(path.substr(0, path.rfind('/') + 1));
}

Result<std::vector<std::byte>> read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat found {};
  if (!file || ::fstat(file.number(), &found) != 0) {
    Error error = system_error("cannot read " + path);
    error.code = errno == ENOENT ? Errc::not_found : error.code;
    return error;
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(found.st_size));
  std::size_t read = 0;
  while (read < bytes.size()) {
    const ssize_t more = ::read(file.number(), bytes.data() + read, bytes.size() - read);
    if (more < 0 && errno != EINTR) {
      return system_error("cannot read " + path);
    }
    if (more == 0) {
      bytes.resize(read);  // It has become shorter under our hands; whoever reads it checks what it holds.
    }
    read += more > 0 ? static_cast<std::size_t>(more) : 0;
  }
  return bytes;
}

}  // namespace hpsearch::daemon
