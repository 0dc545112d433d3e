#include "daemon/pages/page_files.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include "hpsearch/io/files/sha256.hpp"

/// Names and contents of all files, concatenated: cmake/HpsearchPackPages.cmake.
extern "C" const unsigned char hpsearch_page_files[];

namespace hpsearch::daemon {
namespace {

constexpr std::size_t digits_of_hash = 16;

struct EmbeddedFile {
  std::string_view bytes;
  std::string hash;
};
using EmbeddedFiles = std::map<std::string, EmbeddedFile, std::less<>>;

std::string hash_of_page(std::string_view bytes) {
  return files::sha256_of(bytes).substr(0, digits_of_hash);
}

EmbeddedFiles read_embedded() {
  EmbeddedFiles files;
  const unsigned char* at = hpsearch_page_files;
  const auto number = [&at] {
    std::uint32_t value = 0;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  };
  const auto text = [&at](std::size_t bytes) {
    const std::string_view value(reinterpret_cast<const char*>(at), bytes);
    at += bytes;
    return value;
  };
  while (const std::uint32_t name_bytes = number()) {
    const std::uint32_t packed_bytes = number();
    const std::string name(text(name_bytes));
    const std::string_view bytes = text(packed_bytes);
    files.emplace(name, EmbeddedFile{bytes, hash_of_page(bytes)});
  }
  return files;
}

}  // namespace

FindPageFile embedded_page_files() {
  static const EmbeddedFiles files = read_embedded();
  return [](std::string_view name) -> std::optional<PageFile> {
    const auto found = files.find(name);
    if (found == files.end()) {
      return std::nullopt;
    }
    return PageFile{std::string(found->second.bytes), true, found->second.hash};
  };
}

FindPageFile page_files_in(std::string directory) {
  return [directory = std::move(directory)](std::string_view name) -> std::optional<PageFile> {
    if (!is_page_file_name(name)) {
      return std::nullopt;
    }
    std::ifstream in(directory + "/" + std::string(name), std::ios::binary);
    PageFile file;
    file.bytes.assign(std::istreambuf_iterator<char>(in), {});
    if (!in.good() && file.bytes.empty()) {
      return std::nullopt;
    }
    file.hash = hash_of_page(file.bytes);
    return file;
  };
}

bool is_page_file_name(std::string_view name) noexcept {
  char before = '/';
  for (const char c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          c == '-' || c == '_' || c == '.' || c == '/';
    if (!is_plain || (before == '/' && (c == '/' || c == '.'))) {
      return false;
    }
    before = c;
  }
  return before != '/';
}

}  // namespace hpsearch::daemon
