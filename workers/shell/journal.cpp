#include "hpsearch/workers/shell/journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/workers/core/checked_record.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Error;
using engine::Result;

namespace {

// Lines and log tails are far shorter; a larger length is invalid.
constexpr std::size_t longest_body = 256 * 1024;
constexpr std::size_t read_ahead = 256 * 1024;
// Holes consist of whole blocks; they are made so rarely that the cost doesn't matter.
constexpr std::uint64_t block = 4096;
constexpr std::uint64_t least_hole = 1024 * 1024;

struct flock whole_file(int type) {
  struct flock lock {};
  lock.l_type = static_cast<short>(type);
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

Result<JournalWriter> JournalWriter::open(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file) {
    return file_error("cannot write", path, errno);
  }
  struct flock lock = whole_file(F_WRLCK);
  if (::fcntl(file.get(), F_OFD_SETLK, &lock) != 0) {
    if (errno == EAGAIN || errno == EACCES) {
      return Error{Errc::wrong_state, path.string() + " is another shim's"};
    }
    return file_error("cannot lock", path, errno);
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) {
    return file_error("cannot read", path, errno);
  }
  return JournalWriter(std::move(file), static_cast<std::uint64_t>(info.st_size));
}

/// Removes the bytes of an incomplete record, because records after it could not be read.
bool JournalWriter::cut_off_torn() {
  if (torn_ && ::ftruncate(file_.get(), static_cast<off_t>(size_)) == 0) {
    torn_ = false;
  }
  return !torn_;
}

bool JournalWriter::append(const JournalRecord& record, bool durable) {
  if (!cut_off_torn()) {
    return false;
  }
  const std::string bytes = checked_record(proto::encode_record(record));
  if (!write_all(file_.get(), bytes)) {
    const int error = errno;
    torn_ = true;
    cut_off_torn();
    errno = error;
    return false;
  }
  size_ += bytes.size();
  if (durable) {
    // If the sync fails, the record counts as written and isn't written again: the disk loses data, and the
    // agent's spool reports that.
    static_cast<void>(::fdatasync(file_.get()));
  }
  return true;
}

void JournalWriter::drop_before(std::uint64_t position) {
  wanted_from_ = std::max(wanted_from_, std::min(position, size_));
  const std::uint64_t end = wanted_from_ / block * block;
  const std::uint64_t begin = std::max(dropped_, block);
  if (end < begin + least_hole) {
    return;
  }
  if (::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                  static_cast<off_t>(end - begin)) == 0) {
    dropped_ = end;
  }
}

Result<JournalReader> JournalReader::open(const fs::path& path) {
  const Result<files::Directory> directory = files::Directory::open(path.parent_path());
  return directory ? open(*directory, path.filename()) : directory.error();
}

Result<JournalReader> JournalReader::open(const files::Directory& directory, const std::string& name) {
  // Also for writing, because a lock needs that. O_NONBLOCK prevents that a pipe blocks.
  Descriptor file = directory.look_up(name, O_RDWR | O_NONBLOCK);
  if (!file) {
    return directory.failed("cannot read", name, errno);
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return directory.failed("cannot read", name, EISDIR);
  }
  return JournalReader(std::move(file));
}

bool JournalReader::kept() const noexcept {
  struct flock lock = whole_file(F_WRLCK);
  // If that is unknown, the shim counts as running, so that no process is killed.
  return ::fcntl(file_.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

bool JournalReader::fill(std::uint64_t from, std::size_t bytes) {
  const auto holds = [&] { return from >= held_from_ && from + bytes <= held_from_ + held_.size(); };
  if (holds()) {
    return true;
  }
  held_.resize(std::max(bytes, read_ahead));
  held_from_ = from;
  std::size_t filled = 0;
  while (filled < held_.size()) {
    const ssize_t got =
        ::pread(file_.get(), held_.data() + filled, held_.size() - filled, static_cast<off_t>(from + filled));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      unreadable_ = "cannot read the journal: " + error_text(errno);
    }
    if (got <= 0) {
      break;
    }
    filled += static_cast<std::size_t>(got);
  }
  held_.resize(filled);
  return holds();
}

std::optional<JournalRecord> JournalReader::next(std::uint64_t& position) {
  unreadable_.clear();
  if (!fill(position, checked_head_bytes)) {
    return std::nullopt;
  }
  const auto held = [this](std::uint64_t from, std::size_t bytes) {
    return std::string_view(held_).substr(static_cast<std::size_t>(from - held_from_), bytes);
  };
  const std::optional<CheckedHead> head = read_checked_head(held(position, checked_head_bytes));
  const std::size_t size = head ? head->body_bytes : 0;
  if (size == 0 || size > longest_body || !fill(position + checked_head_bytes, size)) {
    return std::nullopt;
  }
  const std::string_view body = held(position + checked_head_bytes, size);
  if (!head->fits(body)) {
    return std::nullopt;
  }
  Result<JournalRecord> record = proto::decode_record<JournalRecord>(body);
  if (!record) {
    return std::nullopt;
  }
  position += checked_head_bytes + size;
  return *std::move(record);
}

}  // namespace hpsearch::workers
