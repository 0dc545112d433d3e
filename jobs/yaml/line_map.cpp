#include "hpsearch/jobs/yaml/line_map.hpp"

#include <algorithm>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/digits.hpp"

namespace hpsearch::yaml {

void LineMap::add_member(std::string key, LineMap lines) {
  HPSEARCH_CHECK(members_.empty() || members_.back().key < key, "members come in ascending order");
  members_.push_back(Member{std::move(key), std::move(lines)});
}

LineMap LineMap::member(std::string_view key) const {
  const auto place =
      std::lower_bound(members_.begin(), members_.end(), key,
                       [](const Member& one, std::string_view wanted) { return one.key < wanted; });
  return place != members_.end() && place->key == key ? place->lines : LineMap();
}

std::size_t LineMap::line_of(std::string_view path) const {
  const LineMap* at = this;
  while (!path.empty()) {
    if (path.front() == '[') {
      const std::size_t close = path.find(']');
      const auto index = engine::number_in<std::size_t>(path.substr(1, close - 1));
      if (close == std::string_view::npos || !index || *index >= at->items_.size()) {
        break;
      }
      at = &at->items_[*index];
      path.remove_prefix(close + 1);
    } else {
      // Keys may have dots; the longest key that fits wins.
      const Member* found = nullptr;
      std::size_t length = path.size();
      while (true) {
        const std::string_view key = path.substr(0, length);
        const auto place = std::lower_bound(
            at->members_.begin(), at->members_.end(), key,
            [](const Member& member, std::string_view wanted) { return member.key < wanted; });
        if (place != at->members_.end() && place->key == key) {
          found = &*place;
          break;
        }
        const std::size_t cut = length == 0 ? std::string_view::npos : path.find_last_of(".[", length - 1);
        if (cut == std::string_view::npos) {
          break;
        }
        length = cut;
      }
      if (found == nullptr) {
        break;
      }
      at = &found->lines;
      path.remove_prefix(length);
    }
    if (!path.empty() && path.front() == '.') {
      path.remove_prefix(1);
    }
  }
  return at->line_;
}

}  // namespace hpsearch::yaml
