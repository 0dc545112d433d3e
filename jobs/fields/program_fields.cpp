#include <algorithm>
#include <utility>

#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/jobs/fields/program.hpp"

namespace hpsearch::jobs {

namespace {

using engine::quoted;

bool has_zero_byte(std::string_view word) {
  return word.find('\0') != std::string_view::npos;
}

/// The words of a list. An item that is no word becomes a problem.
std::vector<std::string> words_of(Section& section, std::string_view key, const Value::List& list) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value& item = list[i];
    if (const std::string* word = item.as_text();
        word != nullptr && !has_zero_byte(*word) && (i > 0 || !word->empty())) {
      words.push_back(*word);
    } else if (const std::int64_t* number = item.as_integer(); number != nullptr && i > 0) {
      words.push_back(std::to_string(*number));
    } else {
      // Reals and booleans have more than one spelling, and the program sees only one.
      section.problem(std::string(key) + "[" + std::to_string(i) + "]", "is " + quoted(item),
                      i == 0 ? "the program's name" : "a string; put it in quotes");
    }
  }
  return words;
}

}  // namespace

bool is_place_of_a_mount(std::string_view path) noexcept {
  return !path.empty() && path != "." && stays_below(path);
}

namespace kind {

std::optional<Entrypoint> Command::read(Section& section, std::string_view key) const {
  const Value* value = section.any(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (const std::string* line = value->as_text()) {
    if (line->find_first_not_of(" \t\r\n") == std::string::npos || has_zero_byte(*line)) {
      section.problem(key, "is " + quoted(*value), "a shell command");
    }
    return Entrypoint{*line};
  }
  const Value::List* list = value->as_list();
  if (list == nullptr || list->empty()) {
    section.problem(key, "is " + quoted(*value), allowed());
    return std::nullopt;
  }
  return Entrypoint{words_of(section, key, *list)};
}

std::optional<Value> MountPropagation::read(Section& section, std::string_view key) const {
  std::optional<Value> value = AsWritten::read(section, key);
  if (value && !(*value == Value("rprivate")) && !(*value == Value("private"))) {
    section.note(key, "has no effect here: mounts are private");
  }
  return value;
}

Value Command::write(const Entrypoint& value) const {
  if (const std::string* line = std::get_if<std::string>(&value.command)) {
    return *line;
  }
  const auto& words = std::get<std::vector<std::string>>(value.command);
  return words.empty() ? Value() : Value::List(words.begin(), words.end());
}

Value Command::schema() const {
  const Value first = Value::Map{{"type", "string"}, {"minLength", 1}};
  return Value::Map{
      {"anyOf",
       Value::List{Value::Map{{"type", "string"}, {"pattern", R"([^ \t\r\n])"}},
                   Value::Map{{"type", "array"},
                              {"minItems", 1},
                              {"items", Value::List{first}},
                              {"additionalItems", Value::Map{{"type", Value::List{"string", "integer"}}}}}}}};
}

std::optional<std::map<std::string, std::string>> MetricPatterns::read(Section& section,
                                                                       std::string_view key) const {
  const Value::Map* map = section.map(key);
  if (map == nullptr) {
    return std::nullopt;
  }
  std::map<std::string, std::string> found;
  for (const auto& [name, pattern] : *map) {
    const std::string* text = pattern.as_text();
    if (name.empty() || text == nullptr || text->empty()) {
      section.problem(engine::path_below(key, name), "is " + quoted(pattern),
                      "a metric's name, and a regular expression for it");
    } else {
      found.emplace(name, *text);
    }
  }
  return found;
}

Value MetricPatterns::schema() const {
  return Value::Map{
      {"type", "object"},
      {"propertyNames", Value::Map{{"minLength", 1}}},
      {"additionalProperties", Value::Map{{"type", "string"}, {"minLength", 1}, {"maxLength", 1024}}}};
}

Value ComponentForm::schema() const {
  return Value::Map{
      {"anyOf", Value::List{Value::Map{{"type", "string"}}, Value::Map{{"$ref", "#/definitions/component"}},
                            Value::Map{{"$ref", "#/definitions/algorithm_spec"}}}}};
}

}  // namespace kind

}  // namespace hpsearch::jobs
