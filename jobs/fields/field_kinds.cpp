#include "hpsearch/jobs/fields/field_kinds.hpp"

#include <algorithm>

#include "hpsearch/engine/base/quoted.hpp"

namespace hpsearch::jobs {

bool stays_below(std::string_view path) noexcept {
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") {
      return false;
    }
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return true;
}

bool is_absolute(std::string_view path) noexcept {
  return path.starts_with('/');
}

bool is_not_empty(std::string_view text) noexcept {
  return !text.empty();
}

bool is_idle(const Value& value) {
  if (const Value::List* list = value.as_list()) {
    return list->empty();
  }
  if (const Value::Map* map = value.as_map()) {
    return std::all_of(map->begin(), map->end(), [](const auto& member) { return is_idle(member.second); });
  }
  return value.is_null() || value == Value(false) || value == Value("");
}

namespace kind {

std::optional<std::string> RuledText::read(Section& section, std::string_view key) const {
  std::optional<std::string> text = section.text(key);
  if (text && !rule.holds(*text)) {
    section.problem(key, "is " + engine::quoted(Value(*text)), allowed());
    return std::nullopt;
  }
  return text;
}

std::optional<std::vector<std::string>> RuledTexts::read(Section& section, std::string_view key) const {
  const Value* value = section.any(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  std::vector<std::string> found;
  const Value::List* list = value->as_list();
  bool holds = list != nullptr;
  for (std::size_t i = 0; holds && i < list->size(); ++i) {
    const std::string* text = (*list)[i].as_text();
    holds = text != nullptr && rule.holds(*text);
    if (holds && std::find(found.begin(), found.end(), *text) == found.end()) {
      found.push_back(*text);
    }
  }
  if (!holds) {
    section.problem(key, "is " + engine::quoted(*value), allowed());
  }
  return found;
}

std::optional<Value::Map> FreeMap::read(Section& section, std::string_view key) const {
  const Value::Map* map = section.map(key);
  return map != nullptr ? std::optional(*map) : std::nullopt;
}

std::optional<Value::List> FreeList::read(Section& section, std::string_view key) const {
  const Value::List* list = section.list(key);
  return list != nullptr ? std::optional(*list) : std::nullopt;
}

std::optional<Value> Anything::read(Section& section, std::string_view key) const {
  const Value* value = section.any(key);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

}  // namespace kind

}  // namespace hpsearch::jobs
