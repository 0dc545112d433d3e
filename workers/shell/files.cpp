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
// Shortage of processes, threads, open files or memory.
constexpr std::array scarcity_errors{EAGAIN, EMFILE, ENFILE, ENOMEM};
// Larger than a directory entry, so that it doesn't fit into the rest of a full disk's last block.
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

Status done_or(const std::optional<files::FileFailure>& failed) {
  return failed ? Status(file_error(failed->doing, failed->path, failed->error)) : Status(Done{});
}

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

Status write_file(const fs::path& path, std::string_view text, bool durable, files::Readers readers) {
  return done_or(files::replace_file(
      path, text, durable ? files::Durability::of_the_disk : files::Durability::of_the_process, readers));
}

Status make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return file_error("cannot make directory", path, error);
  }
  return Done{};
}

Status make_private_directory(const fs::path& path) {
  return done_or(files::make_private_directory(path));
}

Status sync_path(const fs::path& path) {
  return done_or(files::sync_path(path));
}

}  // namespace hpsearch::workers
