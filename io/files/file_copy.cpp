#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "hpsearch/io/files/file_bytes.hpp"
#include "hpsearch/io/files/tree.hpp"

namespace hpsearch::files {

using engine::Done;
using engine::Result;
using engine::Status;

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put < 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

Result<OpenFile> OpenFile::of(const Directory& directory, const std::filesystem::path& name) {
  Result<Descriptor> file = directory.file(name);
  struct stat info {};
  if (file && ::fstat(file->get(), &info) != 0) {
    return directory.failed("cannot read", name, errno);
  }
  return file ? Result<OpenFile>(OpenFile(*std::move(file), directory.name() / name,
                                          static_cast<std::uint64_t>(info.st_size)))
              : file.error();
}

Result<std::string> OpenFile::read(std::uint64_t offset, std::size_t limit) const {
  std::string bytes(limit, '\0');
  std::size_t have = 0;
  while (have < limit) {
    const ssize_t got =
        ::pread(descriptor_.get(), bytes.data() + have, limit - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return engine::Error{engine::Errc::unavailable,
                           "cannot read " + path_.string() + ": " + std::generic_category().message(errno)};
    }
    if (got == 0) {
      break;
    }
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

Status copy_file(const Directory& from, const std::string& name, const Directory& to,
                 const std::string& new_name) {
  const Result<Descriptor> source = from.file(name);
  if (!source) {
    return source.error();
  }
  struct stat info {};
  if (::fstat(source->get(), &info) != 0) {
    return from.failed("cannot read", name, errno);
  }
  const Result<Descriptor> target = to.create(new_name, info.st_mode & 0777U);
  if (!target) {
    return target.error();
  }
  std::vector<char> piece;
  for (bool in_kernel = true;;) {
    ssize_t moved = -1;
    if (in_kernel) {
      constexpr std::size_t most = std::size_t{64} * 1024 * 1024;
      moved = ::copy_file_range(source->get(), nullptr, target->get(), nullptr, most, 0);
      if (moved < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)) {
        in_kernel = false;  // Not between these two.
        continue;
      }
    } else {
      piece.resize(std::size_t{256} * 1024);
      moved = ::read(source->get(), piece.data(), piece.size());
      if (moved < 0 && errno != EINTR) {
        return from.failed("cannot read", name, errno);
      }
      if (moved > 0 && !write_all(target->get(), {piece.data(), static_cast<std::size_t>(moved)})) {
        return to.failed("cannot write", new_name, errno);
      }
    }
    if (moved == 0 && in_kernel && info.st_size > 0 && ::lseek(source->get(), 0, SEEK_CUR) == 0) {
      in_kernel = false;  // Some file systems claim to have copied a file that they did not.
      continue;
    }
    if (moved == 0) {
      return Done{};
    }
    if (moved < 0 && errno != EINTR) {
      return to.failed("cannot write", new_name, errno);
    }
  }
}

}  // namespace hpsearch::files
