#include "hpsearch/workers/shell/shim/program_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"
#include "hpsearch/workers/core/log_text.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Instant;
using engine::Result;
using files::Directory;

/// One file of a log.
struct LogFile {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  [[nodiscard]] std::uint64_t end() const noexcept { return begin + size; }
};

namespace {

constexpr std::size_t recent_bytes = 1024 * 1024;
// Small enough to stay in the processor's nearest cache between being read and being looked through.
constexpr std::size_t room_bytes = 64 * 1024;

std::string piece_name(const std::string& name, std::uint64_t begin) {
  return begin == 0 ? name : name + "." + std::to_string(begin);
}

std::optional<LogFile> piece_at(const Directory& directory, const std::string& name, std::uint64_t begin) {
  const Result<Descriptor> file = directory.file(piece_name(name, begin));
  struct stat info {};
  if (!file || ::fstat(file->get(), &info) != 0) {
    return std::nullopt;
  }
  return LogFile{begin, static_cast<std::uint64_t>(info.st_size)};
}

/// In order; empty when there is no such log.
std::vector<LogFile> pieces_of(const Directory& directory, const std::string& name) {
  std::vector<LogFile> pieces;
  if (const auto first = piece_at(directory, name, 0)) {
    pieces.push_back(*first);
  }
  const std::string stem = name + ".";
  const Result<std::vector<files::Entry>> entries = directory.entries();
  for (std::size_t i = 0; entries && i < entries->size(); ++i) {
    const std::string& other = (*entries)[i].name;
    if (!other.starts_with(stem)) {
      continue;
    }
    const auto begin = engine::number_in<std::uint64_t>(std::string_view(other).substr(stem.size()));
    const auto piece = begin.value_or(0) > 0 ? piece_at(directory, name, *begin) : std::nullopt;
    if (piece) {
      pieces.push_back(*piece);
    }
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const LogFile& a, const LogFile& b) { return a.begin < b.begin; });
  return pieces;
}

/// Up to `limit` bytes from `offset` of a file; fewer at its end.
std::string read_at(const Directory& directory, const std::string& name, std::uint64_t offset,
                    std::uint64_t limit) {
  const Result<Descriptor> file = directory.file(name);
  std::string text(limit, '\0');
  std::size_t filled = 0;
  while (file && filled < text.size()) {
    const ssize_t got =
        ::pread(file->get(), text.data() + filled, text.size() - filled, static_cast<off_t>(offset + filled));
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

/// Up to `limit` bytes from `offset`, over pieces that follow each other without a gap.
std::string read_through(const Directory& directory, const std::string& name,
                         const std::vector<LogFile>& pieces, std::uint64_t offset, std::uint64_t limit) {
  std::string text;
  for (const LogFile& piece : pieces) {
    const std::uint64_t at = offset + text.size();
    if (at < piece.begin || text.size() >= limit) {
      break;
    }
    if (at < piece.end()) {
      text += read_at(directory, piece_name(name, piece.begin), at - piece.begin,
                      std::min(limit - text.size(), piece.end() - at));
    }
  }
  return text;
}

}  // namespace

ProgramLog::ProgramLog(Directory directory, std::string name, LogLimits limits, Descriptor file)
    : directory_(std::move(directory)),
      name_(std::move(name)),
      limits_(limits),
      file_(std::move(file)),
      recent_(new char[recent_bytes]),  // Not make_unique, which would write all of it.
      allowance_(static_cast<std::int64_t>(limits.burst)) {
}

Result<ProgramLog> ProgramLog::create(const fs::path& path, LogLimits limits) {
  Result<Directory> directory = Directory::open(path.parent_path());
  if (!directory) {
    return directory.error();
  }
  constexpr int how = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
  Descriptor file(::openat(directory->descriptor(), path.filename().c_str(), how, 0644));
  if (!file) {
    return file_error("cannot write", path, errno);
  }
  return ProgramLog(*std::move(directory), path.filename().string(), limits, std::move(file));
}

std::span<char> ProgramLog::room() noexcept {
  return {recent_.get() + next_, std::min(room_bytes, recent_bytes - next_)};
}

void ProgramLog::take(std::size_t bytes, Instant now) {
  earn(now);
  if (waiting_ == 0 && allowance_ >= static_cast<std::int64_t>(bytes)) {
    append({recent_.get() + next_, bytes});
    allowance_ -= static_cast<std::int64_t>(bytes);
    next_ = 0;  // So that a quiet program needs a small part of the ring only.
    return;
  }
  next_ = (next_ + bytes) % recent_bytes;
  waiting_ += bytes;
  if (allowance_ >= static_cast<std::int64_t>(std::min<std::uint64_t>(waiting_, recent_bytes))) {
    catch_up();
  }
}

void ProgramLog::earn(Instant now) noexcept {
  const engine::Duration since = now - earned_.value_or(now);
  earned_ = now;
  // More than the burst cannot be had, whatever time has passed.
  const double earned = std::min(since.in_seconds() * static_cast<double>(limits_.bytes_per_second),
                                 2.0 * static_cast<double>(limits_.burst));
  allowance_ =
      std::min(allowance_ + static_cast<std::int64_t>(earned), static_cast<std::int64_t>(limits_.burst));
}

void ProgramLog::catch_up() {
  if (waiting_ == 0) {
    return;
  }
  const auto kept = static_cast<std::size_t>(std::min<std::uint64_t>(waiting_, recent_bytes));
  if (waiting_ > kept) {
    append("\n[hpsearch-shim left out " + std::to_string(waiting_ - kept) +
           " bytes here: they came faster than a log may grow]\n");
  }
  const std::size_t begin = (next_ + recent_bytes - kept) % recent_bytes;
  const std::size_t to_the_end = std::min(kept, recent_bytes - begin);
  append({recent_.get() + begin, to_the_end});
  append({recent_.get(), kept - to_the_end});
  allowance_ -= static_cast<std::int64_t>(kept);
  waiting_ = 0;
  next_ = 0;
}

bool ProgramLog::append(std::string_view bytes) {
  if (bytes.empty()) {
    return true;
  }
  if (size_ >= limits_.piece && !begin_piece()) {
    dropped_ += bytes.size();
    return false;
  }
  if (dropped_ > 0) {
    const std::string mark =
        "\n[hpsearch-shim dropped " + std::to_string(dropped_) + " bytes here: the disk did not take them]\n";
    if (write_all(file_.get(), mark)) {
      size_ += mark.size();
      dropped_ = 0;
    }
  }
  if (dropped_ == 0 && write_all(file_.get(), bytes)) {
    size_ += bytes.size();
    return true;
  }
  dropped_ += bytes.size();
  const auto here = piece_at(directory_, name_, begin_);
  size_ = here ? here->size : size_;  // A part of it may have been taken.
  return false;
}

bool ProgramLog::begin_piece() {
  const std::uint64_t begin = begin_ + size_;
  Descriptor file =
      directory_.look_up(piece_name(name_, begin), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0644);
  if (!file) {
    return false;
  }
  file_ = std::move(file);
  begin_ = begin;
  size_ = 0;
  later_.push_back(begin);
  while (later_.size() >= limits_.pieces) {
    static_cast<void>(directory_.remove(piece_name(name_, later_.front())).has_value());
    later_.pop_front();
  }
  return true;
}

std::string ProgramLog::last_lines(std::size_t limit) const {
  const std::uint64_t end = begin_ + size_;
  // One byte more tells whether the first one kept begins a line.
  const std::uint64_t wanted = std::min<std::uint64_t>(end, limit + 1);
  return workers::last_lines(
      read_through(directory_, name_, pieces_of(directory_, name_), end - wanted, wanted), limit);
}

LogReader::LogReader(const Directory& directory, std::string name, std::vector<LogFile> files)
    : directory_(&directory), name_(std::move(name)), files_(std::move(files)) {
}
LogReader::~LogReader() = default;
LogReader::LogReader(LogReader&&) noexcept = default;

Result<LogReader> LogReader::open(const Directory& directory, std::string name) {
  std::vector<LogFile> files = pieces_of(directory, name);
  if (files.empty()) {
    return directory.failed("cannot read", name, ENOENT);
  }
  return LogReader(directory, std::move(name), std::move(files));
}

std::uint64_t LogReader::size() const noexcept {
  return files_.back().end();
}

std::uint64_t LogReader::front() const noexcept {
  std::uint64_t front = 0;
  for (const LogFile& file : files_) {
    front = file.begin <= front ? std::max(front, file.end()) : front;
  }
  return front;
}

std::uint64_t LogReader::back() const noexcept {
  std::uint64_t back = size();
  for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
    back = file->end() >= back ? std::min(back, file->begin) : back;
  }
  return back;
}

std::string LogReader::read(std::uint64_t offset, std::uint64_t limit) const {
  return read_through(*directory_, name_, files_, offset, limit);
}

Result<LogPiece> read_log(const Directory& directory, const std::string& name, std::uint64_t offset,
                          std::uint64_t limit, bool from_end) {
  const std::vector<LogFile> pieces = pieces_of(directory, name);
  if (pieces.empty()) {
    return directory.failed("cannot read", name, ENOENT);
  }
  LogPiece piece;
  piece.size = pieces.back().end();
  piece.offset = from_end ? piece.size - std::min(limit, piece.size) : std::min(offset, piece.size);
  for (const LogFile& kept : pieces) {
    if (kept.end() > piece.offset) {
      piece.offset = std::max(piece.offset, kept.begin);  // Behind what was left out.
      break;
    }
  }
  std::string bytes =
      read_through(directory, name, pieces, piece.offset, std::min(limit, piece.size - piece.offset));
  if (from_end && piece.offset > 0) {
    const std::size_t cut = proto::cut_character_at_start(bytes);
    bytes.erase(0, cut);
    piece.offset += cut;
  }
  const std::uint64_t end = piece.offset + bytes.size();
  const bool goes_on = std::ranges::any_of(
      pieces, [end](const LogFile& kept) { return kept.begin <= end && end < kept.end(); });
  if (goes_on) {  // At a gap it does not: the rest of a character that is cut there will never come.
    bytes.resize(bytes.size() - proto::cut_character_at_end(bytes));  // The next piece begins with it.
  }
  piece.text = proto::clean_utf8(bytes);
  return piece;
}

}  // namespace hpsearch::workers
