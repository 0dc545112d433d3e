#include "cli/experiment/changed_limits.hpp"

#include <string>
#include <utility>

namespace hpsearch::cli {

using engine::Value;

namespace {

/// The tree without these limits, and without sections that become empty.
Value without_limits(const Value& tree) {
  Value rest = tree;
  Value::Map* sections = rest.as_map();
  for (const std::string_view limit : changeable_limits) {
    const std::string section(limit.substr(0, limit.find('.')));
    Value* held = sections == nullptr || !sections->contains(section) ? nullptr : &(*sections)[section];
    if (held != nullptr && held->as_map() != nullptr) {
      held->as_map()->erase(std::string(limit.substr(limit.find('.') + 1)));
      if (held->as_map()->empty()) {
        sections->erase(section);
      }
    }
  }
  return rest;
}

}  // namespace

std::optional<Value> changed_limits(const Value& before, const Value& after) {
  if (!(without_limits(before) == without_limits(after))) {
    return std::nullopt;
  }
  Value::Map changes;
  for (const std::string_view limit : changeable_limits) {
    const Value* old_value = before.at_path(limit);
    const Value* new_value = after.at_path(limit);
    const Value was = old_value != nullptr ? *old_value : Value();
    const Value is = new_value != nullptr ? *new_value : Value();
    if (was == is) {
      continue;
    }
    Value& section = changes[std::string(limit.substr(0, limit.find('.')))];
    if (section.is_null()) {
      section = Value::Map();
    }
    (*section.as_map())[std::string(limit.substr(limit.find('.') + 1))] = is;
  }
  return Value(std::move(changes));
}

}  // namespace hpsearch::cli
