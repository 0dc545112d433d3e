#include "hpsearch/proto/wire/file_offer.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::proto {
namespace {

using engine::Errc;
using engine::Error;

constexpr std::size_t longest_path = 4000;
constexpr std::size_t longest_part = 255;
constexpr std::size_t deepest = 200;  // The depth up to which trees are copied.

bool is_digest(std::string_view text) noexcept {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Error wrong(const std::string& path, const std::string& what) {
  return Error{Errc::bad_request, "the file \"" + to_utf8(path) + "\" " + what};
}

}  // namespace

bool leads_below(std::string_view path) noexcept {
  if (path.size() > longest_path || path.find('\0') != std::string_view::npos || !is_utf8(path)) {
    return false;
  }
  std::size_t depth = 0;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part.size() > longest_part || ++depth > deepest) {
      return false;
    }
    begin = end + 1;
  }
  return true;
}

engine::Status check(const FileOffer& offer) {
  std::set<std::string_view> paths;
  std::uint64_t bytes = 0;
  for (const OfferedFile& file : offer.files) {
    if (!leads_below(file.path)) {
      return wrong(file.path, "has to lie below the working directory");
    }
    if (!paths.insert(file.path).second) {
      return wrong(file.path, "is named twice");
    }
    const bool is_link = !file.link.empty();
    if (is_link ? !file.digest.empty() || file.bytes != 0 : !is_digest(file.digest)) {
      return wrong(file.path, "has to be a link, or content with its SHA-256");
    }
    if (file.bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) - bytes) {
      return wrong(file.path, "is larger than any disk");
    }
    bytes += file.bytes;
  }
  for (const std::string_view path : paths) {
    for (std::size_t end = path.find('/'); end != std::string_view::npos; end = path.find('/', end + 1)) {
      if (paths.contains(path.substr(0, end))) {
        return wrong(std::string(path), "lies in a file");
      }
    }
  }
  return engine::Done{};
}

std::uint64_t bytes_of(const FileOffer& offer) noexcept {
  std::uint64_t bytes = 0;
  for (const OfferedFile& file : offer.files) {
    bytes += file.bytes;
  }
  return bytes;
}

}  // namespace hpsearch::proto
