#include "daemon/audit/audit_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <tuple>
#include <utility>

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using engine::Value;

constexpr const char* audit_name = "/audit.jsonl";

Error audit_failure(const std::string& path) {
  return Error{Errc::unavailable, "cannot write " + path + ": " + std::strerror(errno)};
}

std::string part_path(const std::string& path, unsigned part) {
  return part == 0 ? path : path + "." + std::to_string(part);
}

/// Those that are there, the oldest first.
std::vector<std::string> parts_in(const std::string& directory) {
  std::vector<std::string> parts;
  std::error_code ignored;
  for (unsigned part = AuditFiles::most_parts + 1; part-- > 0;) {
    const std::string path = part_path(directory + audit_name, part);
    if (std::filesystem::exists(path, ignored)) {
      parts.push_back(path);
    }
  }
  return parts;
}

/// The link of the last whole line, and where that line ends.
std::pair<AuditLink, std::uint64_t> last_link(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  AuditLink link;
  std::uint64_t end = 0;
  std::string line;
  std::string last;
  while (std::getline(in, line) && !in.eof()) {
    end += line.size() + 1;
    last = line;
  }
  if (!last.empty()) {
    static_cast<void>(follow_audit_line(last, link));  // Without a hash before it, it follows.
  }
  return {link, end};
}

}  // namespace

AuditFiles::AuditFiles(AuditFiles&& other) noexcept
    : path_(std::move(other.path_)),
      part_bytes_(other.part_bytes_),
      file_(std::exchange(other.file_, -1)),
      bytes_(other.bytes_),
      last_(std::move(other.last_)) {
}

AuditFiles::~AuditFiles() {
  if (file_ >= 0) {
    ::close(file_);
  }
}

Result<AuditFiles> AuditFiles::open(const std::string& directory, std::uint64_t part_bytes) {
  AuditFiles files(directory + audit_name, part_bytes);
  if (Status begun = files.begin_part(); !begun) {
    return begun.error();
  }
  std::tie(files.last_, files.bytes_) = last_link(files.path_);
  if (files.bytes_ == 0) {
    files.last_ = last_link(part_path(files.path_, 1)).first;
  }
  if (::ftruncate(files.file_, static_cast<off_t>(files.bytes_)) != 0) {
    return audit_failure(files.path_);
  }
  return files;
}

Status AuditFiles::begin_part() {
  if (file_ >= 0) {
    ::close(file_);
  }
  file_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  bytes_ = 0;
  return file_ < 0 ? Status(audit_failure(path_)) : Status(Done{});
}

Status AuditFiles::make_way() {
  for (unsigned part = most_parts; part-- > 0;) {
    const std::string from = part_path(path_, part);
    if (std::rename(from.c_str(), part_path(path_, part + 1).c_str()) != 0 && errno != ENOENT) {
      return audit_failure(from);
    }
  }
  return begin_part();
}

Status AuditFiles::append(std::span<const AuditEntry> entries) {
  if (bytes_ >= part_bytes_) {
    if (Status room = make_way(); !room) {
      return room;
    }
  }
  AuditLink link = last_;
  std::string text;
  for (const AuditEntry& entry : entries) {
    text += audit_line(entry, link) + "\n";
  }
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t some = ::write(file_, text.data() + written, text.size() - written);
    if (some < 0 && errno == EINTR) {
      continue;
    }
    if (some < 0) {
      break;
    }
    written += static_cast<std::size_t>(some);
  }
  if (written < text.size() || ::fdatasync(file_) != 0) {
    Error error = audit_failure(path_);
    if (::ftruncate(file_, static_cast<off_t>(bytes_)) != 0) {
      error.message += "; the next start removes what was written of it";
    }
    return error;
  }
  bytes_ += text.size();
  last_ = std::move(link);
  return Done{};
}

Result<std::vector<Value>> AuditFiles::read(const std::string& directory, std::uint64_t after,
                                            std::size_t limit) {
  std::vector<Value> lines;
  for (const std::string& path : parts_in(directory)) {
    std::ifstream in(path, std::ios::binary);
    std::string line;
    std::uint64_t number = 0;  // Within a part they are consecutive: those that are skipped need no reading.
    while (lines.size() < limit && std::getline(in, line) && !in.eof()) {
      if (number != 0 && number + 1 <= after) {
        ++number;
        continue;
      }
      Result<Value> value = read_audit_line(line);
      if (!value) {
        return Error{Errc::corrupt, path + " is damaged; hpsearch audit verify names the line"};
      }
      number = static_cast<std::uint64_t>(*value->as_map()->find("number")->as_integer());
      if (number > after) {
        lines.push_back(*std::move(value));
      }
    }
  }
  return lines;
}

Result<AuditFiles::Verdict> AuditFiles::verify(const std::string& directory, const std::string& holds) {
  const std::vector<std::string> parts = parts_in(directory);
  if (parts.empty()) {
    return Error{Errc::not_found, directory + " has no audit log"};
  }
  Verdict verdict;
  bool found = holds.empty();
  for (const std::string& path : parts) {
    std::ifstream in(path, std::ios::binary);
    std::string line;
    for (std::uint64_t number = 1; std::getline(in, line); ++number) {
      if (in.eof()) {
        break;  // It is being written, or a crash cut it off: nobody was answered.
      }
      if (const Status follows = follow_audit_line(line, verdict.last); !follows) {
        verdict.problem = path + ", line " + std::to_string(number) + ": " + follows.error().message;
        return verdict;
      }
      found = found || verdict.last.hash == holds;
      // Only the oldest of all parts has lost what was before it.
      if (++verdict.lines == 1 && verdict.last.number != 1 &&
          path != part_path(directory + audit_name, most_parts)) {
        verdict.problem = path + ", line 1: has number " + std::to_string(verdict.last.number) +
                          ": the lines before it are missing";
        return verdict;
      }
    }
  }
  if (!found) {
    verdict.problem =
        "no line has the hash " + holds + ": the last lines were cut off, or all was written anew";
  }
  return verdict;
}

}  // namespace hpsearch::daemon
