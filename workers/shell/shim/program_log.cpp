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

#include "hpsearch/io/archive/log_files.hpp"
#include "hpsearch/workers/core/log_text.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Instant;
using engine::Result;
using files::Directory;

namespace {

constexpr std::size_t recent_bytes = 1024 * 1024;
// Small enough to stay in the processor's first cache between reading and scanning.
constexpr std::size_t room_bytes = 64 * 1024;

}  // namespace

ProgramLog::ProgramLog(Directory directory, std::string name, LogLimits limits, Descriptor file)
    : directory_(std::move(directory)),
      name_(std::move(name)),
      limits_(limits),
      file_(std::move(file)),
      recent_(new char[recent_bytes]),  // make_unique would write all of it.
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
    next_ = 0;  // A quiet program then uses only a small part of the ring.
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
  // The allowance never exceeds the burst, after any time.
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
  const auto here = logs::log_file_at(directory_, name_, begin_);
  size_ = here ? here->size : size_;  // A part of it may have been written.
  return false;
}

bool ProgramLog::begin_piece() {
  const std::uint64_t begin = begin_ + size_;
  Descriptor file =
      directory_.look_up(logs::log_file_name(name_, begin), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0644);
  if (!file) {
    return false;
  }
  file_ = std::move(file);
  begin_ = begin;
  size_ = 0;
  later_.push_back(begin);
  while (later_.size() >= limits_.pieces) {
    static_cast<void>(directory_.remove(logs::log_file_name(name_, later_.front())).has_value());
    later_.pop_front();
  }
  return true;
}

std::string ProgramLog::last_lines(std::size_t limit) const {
  const std::uint64_t end = begin_ + size_;
  // The additional byte shows whether the first kept one begins a line.
  const std::uint64_t wanted = std::min<std::uint64_t>(end, limit + 1);
  const Result<logs::LogReader> log = logs::LogReader::open(directory_, name_);
  return log ? workers::last_lines(log->read(end - wanted, wanted), limit) : "";
}

Result<proto::TextPiece> read_log(const Directory& directory, const std::string& name, std::uint64_t offset,
                                  std::uint64_t limit, bool from_end) {
  const Result<logs::LogReader> log = logs::LogReader::open(directory, name);
  if (!log) {
    return log.error();
  }
  logs::Stretch found = log->stretch(offset, limit, from_end);
  return proto::text_piece(found.offset, found.size, std::move(found.bytes), from_end, found.goes_on);
}

}  // namespace hpsearch::workers
