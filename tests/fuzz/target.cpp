#include "fuzz/target.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "hpsearch/engine/base/check.hpp"
#include "scratch.hpp"

namespace hpsearch::fuzz {
namespace {

std::vector<Target>& registered() {
  static std::vector<Target> all;
  return all;
}

}  // namespace

Registered::Registered(const Target& target) {
  registered().push_back(target);
}

std::vector<Target> targets() {
  std::vector<Target> all = registered();
  std::sort(all.begin(), all.end(), [](const Target& a, const Target& b) { return a.name < b.name; });
  return all;
}

Seeds files_in(std::string_view folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(HPSEARCH_SOURCE_DIR) / folder)) {
    if (entry.is_regular_file()) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  Seeds seeds;
  for (const auto& path : paths) {
    seeds.push_back(text_of(path));
  }
  return seeds;
}

std::string file_at(std::string_view path) {
  const std::filesystem::path whole = std::filesystem::path(HPSEARCH_SOURCE_DIR) / path;
  HPSEARCH_CHECK(std::filesystem::is_regular_file(whole), "seeds are part of the source tree");
  return text_of(whole);
}

unsigned Parts::byte() {
  if (rest_.empty()) {
    return 0;
  }
  const auto value = static_cast<unsigned char>(rest_.front());
  rest_.remove_prefix(1);
  return value;
}

std::string_view Parts::chunk() {
  const std::size_t low = byte();
  const std::size_t high = byte();
  const std::size_t size = std::min(low | high << 8U, rest_.size());
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

std::string_view Parts::rest() {
  return std::exchange(rest_, {});
}

std::string as_chunk(std::string_view bytes) {
  HPSEARCH_CHECK(bytes.size() < 65'536, "the size of a chunk has two bytes");
  std::string chunk{static_cast<char>(bytes.size() & 0xFFU), static_cast<char>(bytes.size() >> 8U)};
  return chunk += bytes;
}

}  // namespace hpsearch::fuzz
