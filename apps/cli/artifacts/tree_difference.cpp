#include "cli/artifacts/tree_difference.hpp"

#include "cli/render/text.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

std::string shown(const Value& value) {
  return cut_to_width(printable(engine::compact_json(value)), 40);
}

void compare(const Value& before, const Value& after, const std::string& path, std::size_t most,
             std::vector<std::string>& out) {
  if (out.size() >= most || before == after) {
    return;
  }
  const Value::Map* old_map = before.as_map();
  const Value::Map* new_map = after.as_map();
  if (old_map == nullptr || new_map == nullptr) {
    out.push_back(path + ": " + shown(before) + " -> " + shown(after));
    return;
  }
  const auto below = [&path](const std::string& key) {
    return path.empty() ? printable(key) : path + "." + printable(key);
  };
  for (const auto& [key, value] : *old_map) {
    if (const Value* now = new_map->find(key)) {
      compare(value, *now, below(key), most, out);
    } else if (out.size() < most) {
      out.push_back(below(key) + ": removed");
    }
  }
  for (const auto& [key, value] : *new_map) {
    if (!old_map->contains(key) && out.size() < most) {
      out.push_back(below(key) + ": new, " + shown(value));
    }
  }
}

}  // namespace

std::vector<std::string> differences(const Value& before, const Value& after, std::size_t most) {
  std::vector<std::string> out;
  compare(before, after, "", most, out);
  return out;
}

}  // namespace hpsearch::cli
