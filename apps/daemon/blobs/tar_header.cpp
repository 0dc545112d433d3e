#include "daemon/blobs/tar_header.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace hpsearch::daemon {
namespace {

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

}  // namespace

std::uint64_t padded_to_blocks(std::uint64_t bytes) noexcept {
  return (bytes + block - 1) / block * block;
}

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

std::string tar_end() {
  return std::string(2 * block, '\0');
}

}  // namespace hpsearch::daemon
