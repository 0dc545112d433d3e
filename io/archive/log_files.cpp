#include "hpsearch/io/archive/log_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/files/file_bytes.hpp"

namespace hpsearch::logs {

using engine::Result;
using files::Directory;

std::string log_file_name(const std::string& name, std::uint64_t begin) {
  return begin == 0 ? name : name + "." + std::to_string(begin);
}

std::optional<LogFile> log_file_at(const Directory& directory, const std::string& name, std::uint64_t begin) {
  const Result<files::Descriptor> file = directory.file(log_file_name(name, begin));
  struct stat info {};
  if (!file || ::fstat(file->get(), &info) != 0) {
    return std::nullopt;
  }
  return LogFile{begin, static_cast<std::uint64_t>(info.st_size)};
}

Result<LogReader> LogReader::open(const Directory& directory, std::string name) {
  std::vector<LogFile> all;
  if (const auto first = log_file_at(directory, name, 0)) {
    all.push_back(*first);
  }
  const std::string stem = name + ".";
  const Result<std::vector<files::Entry>> entries = directory.entries();
  for (std::size_t i = 0; entries && i < entries->size(); ++i) {
    const std::string& other = (*entries)[i].name;
    const auto begin = other.starts_with(stem)
                           ? engine::number_in<std::uint64_t>(std::string_view(other).substr(stem.size()))
                           : std::nullopt;
    const auto file = begin.value_or(0) > 0 ? log_file_at(directory, name, *begin) : std::nullopt;
    if (file) {
      all.push_back(*file);
    }
  }
  if (all.empty()) {
    return directory.failed("cannot read", name, ENOENT);
  }
  std::sort(all.begin(), all.end(), [](const LogFile& a, const LogFile& b) { return a.begin < b.begin; });
  return LogReader(directory, std::move(name), std::move(all));
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
  std::string text;
  for (const LogFile& file : files_) {
    const std::uint64_t at = offset + text.size();
    if (at < file.begin || text.size() >= limit) {
      break;
    }
    if (at < file.end()) {
      const auto open = files::OpenFile::of(*directory_, log_file_name(name_, file.begin));
      const Result<std::string> bytes =
          open ? open->read(at - file.begin, std::min(limit - text.size(), file.end() - at))
               : Result<std::string>(open.error());
      text += bytes ? *bytes : "";
    }
  }
  return text;
}

Stretch LogReader::stretch(std::uint64_t offset, std::uint64_t limit, bool from_end) const {
  Stretch out{.offset = from_end ? size() - std::min(limit, size()) : std::min(offset, size()),
              .size = size(),
              .bytes = {}};
  for (const LogFile& file : files_) {
    if (file.end() > out.offset) {
      out.offset = std::max(out.offset, file.begin);  // After what was left out.
      break;
    }
  }
  out.bytes = read(out.offset, std::min(limit, size() - out.offset));
  const std::uint64_t end = out.offset + out.bytes.size();
  out.goes_on = std::ranges::any_of(
      files_, [end](const LogFile& file) { return file.begin <= end && end < file.end(); });
  return out;
}

}  // namespace hpsearch::logs
