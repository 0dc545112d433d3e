#include "daemon/audit/audit_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
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

/// A log that is being written gets new parts now and then; the list of parts is read at most this often.
constexpr int most_looks = 1'000;

Error audit_failure(const std::string& path) {
  return Error{Errc::unavailable, "cannot write " + path + ": " + std::strerror(errno)};
}

std::string part_path(const std::string& path, unsigned part) {
  return part == 0 ? path : path + "." + std::to_string(part);
}

/// An open part. It stays the same file when it is renamed.
struct OpenPart {
  std::string path;
  ino_t inode = 0;
  std::ifstream in{};
};

/// Opens the existing parts, the oldest first.
std::vector<OpenPart> parts_now(const std::string& newest, const AuditKind& kind) {
  std::vector<OpenPart> parts;
  for (unsigned part = kind.most_parts + 1; part-- > 0;) {
    const std::string path = part_path(newest, part);
    struct stat about {};
    if (::stat(path.c_str(), &about) == 0) {
      parts.push_back({path, about.st_ino});
    }
  }
  return parts;
}

/// Like parts_now(), but repeats if the daemon began another part and renamed all of them while they were
/// opened.
std::vector<OpenPart> open_parts(const std::string& directory, const AuditKind& kind) {
  const std::string newest = directory + "/" + kind.name;
  std::vector<OpenPart> parts;
  for (int look = 0; look < most_looks; ++look) {
    parts = parts_now(newest, kind);
    for (OpenPart& part : parts) {
      part.in.open(part.path, std::ios::binary);
    }
    const std::vector<OpenPart> again = parts_now(newest, kind);
    if (std::equal(
            parts.begin(), parts.end(), again.begin(), again.end(),
            [](const OpenPart& a, const OpenPart& b) { return a.path == b.path && a.inode == b.inode; })) {
      break;
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
    static_cast<void>(follow_audit_line(last, link));  // `last` has no hash yet, so the line follows it.
  }
  return {link, end};
}

}  // namespace

AuditFiles::AuditFiles(AuditFiles&& other) noexcept
    : path_(std::move(other.path_)),
      kind_(other.kind_),
      file_(std::exchange(other.file_, -1)),
      bytes_(other.bytes_),
      last_(std::move(other.last_)) {
}

AuditFiles::~AuditFiles() {
  if (file_ >= 0) {
    ::close(file_);
  }
}

Result<AuditFiles> AuditFiles::open(const std::string& directory, const AuditKind& kind) {
  AuditFiles files(directory + "/" + kind.name, kind);
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
  for (unsigned part = kind_.most_parts; part-- > 0;) {
    const std::string from = part_path(path_, part);
    if (std::rename(from.c_str(), part_path(path_, part + 1).c_str()) != 0 && errno != ENOENT) {
      return audit_failure(from);
    }
  }
  return begin_part();
}

Status AuditFiles::append(std::span<const AuditEntry> entries) {
  if (bytes_ >= kind_.part_bytes) {
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

Result<std::vector<Value>> AuditFiles::read(const std::string& directory, const AuditKind& kind,
                                            std::uint64_t after, std::size_t limit) {
  std::vector<Value> lines;
  for (auto& [path, inode, in] : open_parts(directory, kind)) {
    std::string line;
    std::uint64_t number = 0;  // Lines within a part are consecutive: skipped lines need no reading.
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

Result<AuditFiles::Verdict> AuditFiles::verify(const std::string& directory, const AuditKind& kind,
                                               const std::string& holds) {
  std::vector<OpenPart> parts = open_parts(directory, kind);
  if (parts.empty()) {
    return Error{Errc::not_found, directory + " has no audit log"};
  }
  Verdict verdict;
  bool found = holds.empty();
  const std::string oldest = part_path(directory + "/" + kind.name, kind.most_parts);
  for (auto& [path, inode, in] : parts) {
    std::string line;
    for (std::uint64_t number = 1; std::getline(in, line); ++number) {
      if (in.eof()) {
        break;  // It is being written, or a crash cut it off: its request was not answered.
      }
      if (const Status follows = follow_audit_line(line, verdict.last); !follows) {
        verdict.problem = path + ", line " + std::to_string(number) + ": " + follows.error().message;
        return verdict;
      }
      found = found || verdict.last.hash == holds;
      // Only the oldest of all parts may lack the lines before it.
      if (++verdict.lines == 1 && verdict.last.number != 1 && path != oldest) {
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
