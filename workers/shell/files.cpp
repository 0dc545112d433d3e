#include "hpsearch/workers/shell/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <span>
#include <vector>

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

constexpr std::array bad_disk_errors{ENOSPC, EDQUOT, EIO, EROFS};
// Processes, threads, open files, memory.
constexpr std::array scarcity_errors{EAGAIN, EMFILE, ENFILE, ENOMEM};
// More than a directory entry, so that a full disk cannot take it in what is left of its last block.
constexpr std::size_t probe_bytes = std::size_t{1} << 20U;

}  // namespace

std::string error_text(int error) {
  return std::generic_category().message(error);
}

Error file_error(std::string_view doing, const fs::path& path, int error) {
  std::string text = std::string(doing) + " " + path.string() + ": " + error_text(error);
  if (error == ENOSPC || error == EDQUOT) {
    text += "; free some space there, or give the worker a --state-dir on another disk";
  }
  return Error{error == ENOENT ? Errc::not_found : Errc::unavailable, std::move(text)};
}

namespace {

bool reports_one(std::span<const int> errors, std::string_view sentence) {
  return std::any_of(errors.begin(), errors.end(), [sentence](int error) {
    return sentence.find(": " + error_text(error)) != std::string_view::npos;
  });
}

}  // namespace

bool reports_a_bad_disk(std::string_view sentence) {
  return reports_one(bad_disk_errors, sentence);
}

bool reports_scarcity(std::string_view sentence) {
  return reports_one(scarcity_errors, sentence);
}

Status try_to_write_in(const fs::path& directory) {
  const fs::path probe = directory / "probe";
  const Status written = write_file(probe, std::string(probe_bytes, '\0'), true);
  std::error_code ignored;
  fs::remove(probe, ignored);
  fs::remove(directory / "probe.new", ignored);
  return written;
}

Error file_error(std::string_view doing, const fs::path& path, const std::error_code& error) {
  return file_error(doing, path, error.default_error_condition().value());
}

Result<std::string> read_file(const fs::path& path, std::size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    return file_error("cannot read", path, errno);
  }
  std::string text;
  std::array<char, 16 * 1024> piece{};
  for (;;) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return file_error("cannot read", path, errno);
    }
    if (got == 0) {
      return text;
    }
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (text.size() > limit) {
      return Error{Errc::corrupt, path.string() + " is larger than " + std::to_string(limit) + " bytes"};
    }
  }
}

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

Status write_file(const fs::path& path, std::string_view text, bool durable, Readers readers) {
  fs::path fresh = path;
  fresh += ".new";
  const bool hidden = readers == Readers::owner;
  Descriptor file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, hidden ? 0600 : 0644));
  if (!file || (hidden && ::fchmod(file.get(), 0600) != 0)) {  // One that was left there has its old mode.
    return file_error("cannot write", fresh, errno);
  }
  if (!write_all(file.get(), text)) {
    const int error = errno;
    ::unlink(fresh.c_str());
    return file_error("cannot write", path, error);
  }
  if (durable && ::fdatasync(file.get()) != 0) {
    return file_error("cannot write", fresh, errno);
  }
  file.reset();
  if (::rename(fresh.c_str(), path.c_str()) != 0) {
    return file_error("cannot write", path, errno);
  }
  return durable ? sync_path(path.parent_path()) : Status(Done{});
}

Status make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return file_error("cannot make directory", path, error);
  }
  return Done{};
}

Status make_private_directory(const fs::path& given) {
  const fs::path path = given.has_filename() ? given : given.parent_path();  // "dir/" is "dir".
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    return Done{};
  }
  if (const Status made = make_directories(path.parent_path()); !made) {
    return made;
  }
  return ::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST
             ? Status(Done{})
             : Status(file_error("cannot make directory", path, errno));
}

Status sync_path(const fs::path& path) {
  const Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) {
    return file_error("cannot open", path, errno);
  }
  // Some file systems cannot sync a directory; they then keep its order themselves.
  if (::fsync(opened.get()) != 0 && errno != EINVAL && errno != EROFS) {
    return file_error("cannot write", path, errno);
  }
  return Done{};
}

}  // namespace hpsearch::workers
