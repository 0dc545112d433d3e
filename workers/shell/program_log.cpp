#include "hpsearch/workers/shell/program_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "hpsearch/workers/core/log_text.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Result;

namespace {

/// Up to `limit` bytes from `offset`; fewer at the end of the file.
std::string read_at(int file, std::uint64_t offset, std::uint64_t limit) {
  std::string text(limit, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got =
        ::pread(file, text.data() + filled, text.size() - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

std::uint64_t size_of(int file) {
  struct stat info {};
  return ::fstat(file, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

bool copy_part(int from, std::uint64_t offset, std::uint64_t bytes, int to) {
  constexpr std::uint64_t piece = 256 * 1024;
  while (bytes > 0) {
    const std::string text = read_at(from, offset, std::min(piece, bytes));
    if (text.empty() || !write_all(to, text)) {
      return false;
    }
    offset += text.size();
    bytes -= text.size();
  }
  return true;
}

}  // namespace

Result<ProgramLog> ProgramLog::create(fs::path path, LogLimits limits) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  if (!file) {
    return file_error("cannot write", path, errno);
  }
  return ProgramLog(std::move(path), limits, std::move(file));
}

bool ProgramLog::append(std::string_view bytes) {
  if (size_ + bytes.size() > limits_.whole) {
    cut_down();
  }
  if (!write_all(file_.get(), bytes)) {
    size_ = size_of(file_.get());
    return false;
  }
  size_ += bytes.size();
  return true;
}

void ProgramLog::cut_down() {
  const std::uint64_t head = std::min(limits_.head, size_);
  const std::uint64_t tail = std::min(limits_.tail, size_ - head);
  const std::uint64_t tail_at = size_ - tail;
  fs::path fresh_path = path_;
  fresh_path += ".new";
  Descriptor fresh(::open(fresh_path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  const std::string mark = "\n[hpsearch-worker left out " + std::to_string(tail_at - head) + " bytes here]\n";
  const bool copied = fresh && copy_part(file_.get(), 0, head, fresh.get()) && write_all(fresh.get(), mark) &&
                      copy_part(file_.get(), tail_at, tail, fresh.get()) &&
                      ::rename(fresh_path.c_str(), path_.c_str()) == 0;
  if (copied) {
    file_ = std::move(fresh);
  } else {
    // No room for a copy: the beginning is what explains most failures.
    ::unlink(fresh_path.c_str());
    const int ignored = ::ftruncate(file_.get(), static_cast<off_t>(head));
    static_cast<void>(ignored);
  }
  size_ = size_of(file_.get());
}

std::string ProgramLog::last_lines(std::size_t limit) const {
  // One byte more tells whether the first one kept begins a line.
  const std::uint64_t wanted = std::min<std::uint64_t>(size_, limit + 1);
  return workers::last_lines(read_at(file_.get(), size_ - wanted, wanted), limit);
}

Result<LogPiece> read_log(const fs::path& path, std::uint64_t offset, std::uint64_t limit, bool from_end) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    return file_error("cannot read", path, errno);
  }
  LogPiece piece;
  piece.size = size_of(file.get());
  piece.offset = from_end ? piece.size - std::min(limit, piece.size) : std::min(offset, piece.size);
  std::string bytes = read_at(file.get(), piece.offset, std::min(limit, piece.size - piece.offset));
  if (from_end && piece.offset > 0) {
    const std::size_t cut = cut_character_at_start(bytes);
    bytes.erase(0, cut);
    piece.offset += cut;
  }
  if (piece.offset + bytes.size() < piece.size) {
    bytes.resize(bytes.size() - cut_character_at_end(bytes));  // The next piece begins with it.
  }
  piece.text = clean_utf8(bytes);
  return piece;
}

}  // namespace hpsearch::workers
