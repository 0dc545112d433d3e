#include "hpsearch/io/archive/tar_archive.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "hpsearch/io/files/file_bytes.hpp"

namespace hpsearch::files {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;

constexpr std::size_t block = 512;
constexpr std::size_t longest_name = 100;
constexpr std::uint64_t most_octal = (std::uint64_t{1} << 33U) - 1;  // Eleven octal digits: 8 GiB.

/// Offsets in a ustar header.
enum Field : std::size_t {
  at_name = 0,
  at_mode = 100,
  at_uid = 108,
  at_gid = 116,
  at_size = 124,
  at_time = 136,
  at_checksum = 148,
  at_kind = 156,
  at_link = 157,
  at_magic = 257,
};

void put(std::string& header, std::size_t at, std::string_view text) {
  std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(at));
}

void put_octal(std::string& header, std::size_t at, std::size_t digits, std::uint64_t number) {
  for (std::size_t i = digits; i > 0; --i, number >>= 3U) {
    header[at + i - 1] = static_cast<char>('0' + (number & 7U));
  }
}

std::string ustar_header(std::string_view name, std::string_view link, char kind, std::uint64_t mode,
                         std::uint64_t bytes, std::int64_t written_at) {
  std::string header(block, '\0');
  put(header, at_name, name.substr(0, longest_name));
  put_octal(header, at_mode, 7, mode);
  put_octal(header, at_uid, 7, 0);
  put_octal(header, at_gid, 7, 0);
  put_octal(header, at_size, 11, std::min(bytes, most_octal));
  put_octal(header, at_time, 11, std::min(static_cast<std::uint64_t>(written_at), most_octal));
  put(header, at_checksum, "        ");  // In the sum, the checksum counts as blanks.
  header[at_kind] = kind;
  put(header, at_link, link.substr(0, longest_name));
  put(header, at_magic, std::string_view("ustar\00000", 8));
  std::uint64_t sum = 0;
  for (const char byte : header) {
    sum += static_cast<unsigned char>(byte);
  }
  put_octal(header, at_checksum, 6, sum);
  put(header, at_checksum + 6, std::string_view("\0 ", 2));
  return header;
}

/// "LENGTH KEY=VALUE\n", where LENGTH includes itself.
std::string pax_record(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t length = rest + std::to_string(rest).size();
  length = rest + std::to_string(length).size();
  return std::to_string(length) + " " + std::string(key) + "=" + std::string(value) + "\n";
}

std::uint64_t padded_to_blocks(std::uint64_t bytes) noexcept {
  return (bytes + block - 1) / block * block;
}

struct TarEntry {
  std::string path;
  std::string link{};       ///< Its target; "" = a regular file.
  std::uint64_t bytes = 0;  ///< Size of the content, which follows the header.
  bool is_executable = false;
  std::int64_t written_at = 0;
};

/// The bytes before the content, a multiple of 512: a ustar header, preceded by a pax header if a name or a
/// size is too long for ustar.
std::string tar_header(const TarEntry& entry) {
  std::string records;
  if (entry.path.size() > longest_name) {
    records += pax_record("path", entry.path);
  }
  if (entry.link.size() > longest_name) {
    records += pax_record("linkpath", entry.link);
  }
  if (entry.bytes > most_octal) {
    records += pax_record("size", std::to_string(entry.bytes));
  }
  std::string bytes;
  if (!records.empty()) {
    bytes = ustar_header("pax_header", "", 'x', 0644, records.size(), entry.written_at);
    bytes += records;
    bytes.resize(padded_to_blocks(bytes.size()), '\0');
  }
  const bool is_link = !entry.link.empty();
  return bytes + ustar_header(entry.path, entry.link, is_link ? '2' : '0',
                              is_link               ? 0777
                              : entry.is_executable ? 0755
                                                    : 0644,
                              entry.bytes, entry.written_at);
}

}  // namespace

TarArchive::TarArchive(std::int64_t written_at) : written_at_(std::max<std::int64_t>(written_at, 0)) {
}

std::uint64_t TarArchive::Part::end() const noexcept {
  return begin + head.size() + padded_to_blocks(content.bytes);
}

void TarArchive::add(Part part) {
  part.begin = bytes_;
  parts_.push_back(std::move(part));
  bytes_ = parts_.back().end();
}

void TarArchive::add_file(const std::string& path, Content content, bool is_executable) {
  std::string head = tar_header(
      {.path = path, .bytes = content.bytes, .is_executable = is_executable, .written_at = written_at_});
  add({.head = std::move(head), .content = std::move(content)});
}

void TarArchive::add_link(const std::string& path, const std::string& target) {
  add({.head = tar_header({.path = path, .link = target, .written_at = written_at_})});
}

void TarArchive::end() {
  add({.head = std::string(2 * block, '\0')});
}

Result<std::string> TarArchive::read(std::uint64_t offset, std::size_t limit) const {
  const auto behind = std::upper_bound(parts_.begin(), parts_.end(), offset,
                                       [](std::uint64_t at, const Part& part) { return at < part.begin; });
  std::string bytes;
  for (auto part = behind == parts_.begin() ? behind : std::prev(behind);
       part != parts_.end() && bytes.size() < limit; ++part) {
    const std::uint64_t from = offset + bytes.size();
    std::uint64_t at = from - part->begin;
    if (at < part->head.size()) {
      bytes += part->head.substr(at, limit - bytes.size());
      at = part->head.size();
    }
    const Content& content = part->content;
    const std::uint64_t content_from = at - part->head.size();
    if (content_from < content.bytes && bytes.size() < limit) {
      const auto wanted = std::min<std::uint64_t>(content.bytes - content_from, limit - bytes.size());
      const auto file = OpenFile::of(*content.directory, content.name);
      const Result<std::string> piece =
          file ? file->read(content_from, wanted) : Result<std::string>(file.error());
      if (!piece) {
        return piece.error();
      }
      if (piece->size() != wanted) {
        return Error{Errc::unavailable,
                     (content.directory->name() / content.name).string() + " became shorter"};
      }
      bytes += *piece;
    }
    const std::uint64_t reached = offset + bytes.size();
    if (bytes.size() < limit && reached < part->end()) {
      bytes.append(std::min<std::uint64_t>(part->end() - reached, limit - bytes.size()), '\0');
    }
  }
  return bytes;
}

}  // namespace hpsearch::files
