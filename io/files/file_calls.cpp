#include "hpsearch/io/files/file_calls.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "hpsearch/io/files/descriptor.hpp"

namespace hpsearch::files {
namespace {

int try_lock(int file) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(file, F_OFD_SETLK, &whole);
}

}  // namespace

int FileCalls::create(const std::string& path) {
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

int FileCalls::open(const std::string& path) {
  return ::open(path.c_str(), O_RDWR | O_CLOEXEC);
}

void FileCalls::close(int file) {
  ::close(file);
}

int FileCalls::write(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return -1;
    }
    bytes.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return 0;
}

int FileCalls::sync(int file) {
  return ::fsync(file);
}

int FileCalls::read(int file, std::string& into) {
  into.clear();
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t got = ::pread(file, part.data(), part.size(), static_cast<off_t>(into.size()));
    if (got < 0 && errno != EINTR) {
      return -1;
    }
    if (got == 0) {
      return 0;
    }
    into.append(part.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  }
}

int FileCalls::lock(int file) {
  return try_lock(file);
}

FileCalls::ChildsLock FileCalls::lock_in_child(const std::string& path) {
  const char* const name = path.c_str();
  const pid_t child = ::fork();
  if (child == 0) {  // Only calls that a signal handler may make: other threads may have held locks.
    const int file = ::open(name, O_RDWR | O_CLOEXEC);
    const bool granted = file >= 0 && try_lock(file) == 0;
    const bool refused = file >= 0 && (errno == EAGAIN || errno == EACCES);
    ::_exit(static_cast<int>(granted   ? ChildsLock::granted
                             : refused ? ChildsLock::refused
                                       : ChildsLock::failed));
  }
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return ChildsLock::failed;
    }
  }
  return child > 0 && WIFEXITED(status) ? static_cast<ChildsLock>(WEXITSTATUS(status)) : ChildsLock::failed;
}

int FileCalls::rename(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str());
}

int FileCalls::sync_directory(const std::string& path) {
  const files::Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory ? ::fsync(directory.get()) : -1;
}

void FileCalls::remove(const std::string& path) {
  ::unlink(path.c_str());
}

}  // namespace hpsearch::files
