#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "hpsearch/engine/config/field.hpp"
#include "hpsearch/jobs/fields/engine_types.hpp"

// Kinds of fields of the program, besides those of engine/config/field.hpp. All have the same functions.
// `write` returns null for a value that is not printed.

namespace hpsearch::jobs {

using engine::Field;
using engine::Section;

/// Whether no part of the path is "..", which would lead out of its directory.
[[nodiscard]] bool stays_below(std::string_view path) noexcept;
[[nodiscard]] bool is_absolute(std::string_view path) noexcept;
[[nodiscard]] bool is_not_empty(std::string_view text) noexcept;

/// Whether the value is false, null, or an empty text, list or map, at any depth.
[[nodiscard]] bool is_idle(const Value& value);

namespace kind {

using engine::kind::Boolean;
using engine::kind::Group;
using engine::kind::Integer;
using engine::kind::OneOf;
using engine::kind::Text;
using engine::kind::Time;

/// An enum whose values are counted from 0 in the order of their names.
template <class Enum, std::size_t count>
[[nodiscard]] constexpr OneOf<Enum, count> one_of(const std::array<std::string_view, count>& names) {
  OneOf<Enum, count> kind{};
  for (std::size_t i = 0; i < count; ++i) {
    kind.choices[i] = {names[i], static_cast<Enum>(i)};
  }
  return kind;
}

/// One of these words, kept as text; "" is not set.
template <std::size_t count>
struct Word : OneOf<std::string_view, count> {
  explicit constexpr Word(const std::array<std::string_view, count>& words) {
    for (std::size_t i = 0; i < count; ++i) {
      this->choices[i] = {words[i], words[i]};
    }
  }
};

/// A rule that texts satisfy.
struct TextRule {
  bool (*holds)(std::string_view) noexcept;
  std::string_view allowed;  ///< The allowed values, for error messages.
  std::string_view range;    ///< The allowed values, for the docs page.
  std::string_view pattern;  ///< The rule as a regular expression of JSON Schema.
};

/// A text that satisfies a rule.
struct RuledText {
  TextRule rule;

  [[nodiscard]] std::optional<std::string> read(Section& section, std::string_view key) const;
  [[nodiscard]] Value write(const std::string& value) const { return value; }
  [[nodiscard]] std::string range() const { return std::string(rule.range); }
  [[nodiscard]] std::string allowed() const { return std::string(rule.allowed); }
  [[nodiscard]] Value schema() const {
    return Value::Map{{"type", "string"}, {"pattern", std::string(rule.pattern)}};
  }
};

/// A list of texts that satisfy a rule, each once. The rule's `range` and `allowed` describe the list.
struct RuledTexts {
  TextRule rule;

  [[nodiscard]] std::optional<std::vector<std::string>> read(Section& section, std::string_view key) const;
  [[nodiscard]] Value write(const std::vector<std::string>& value) const {
    return Value::List(value.begin(), value.end());
  }
  [[nodiscard]] std::string range() const { return std::string(rule.range); }
  [[nodiscard]] std::string allowed() const { return std::string(rule.allowed); }
  [[nodiscard]] Value schema() const {
    return Value::Map{{"type", "array"}, {"items", RuledText{rule}.schema()}};
  }
};

/// A required field.
template <class Inner>
struct Required : Inner {
  explicit constexpr Required(Inner inner) : Inner(std::move(inner)) {}

  [[nodiscard]] auto read(Section& section, std::string_view key) const {
    auto found = Inner::read(section, key);
    if (!section.has(key)) {
      section.missing(key, Inner::allowed());
    }
    return found;
  }
};

/// A text that is not displayed (secrets.hpp).
struct Secret : Text {};

template <class Kind>
inline constexpr bool is_secret = false;
template <>
inline constexpr bool is_secret<Secret> = true;

/// A map with any content.
struct FreeMap {
  [[nodiscard]] std::optional<Value::Map> read(Section& section, std::string_view key) const;
  [[nodiscard]] Value write(const Value::Map& value) const { return value; }
  [[nodiscard]] std::string range() const { return "map"; }
  [[nodiscard]] std::string allowed() const { return "a map"; }
  [[nodiscard]] Value schema() const { return Value::Map{{"type", "object"}}; }
};

struct FreeList {
  [[nodiscard]] std::optional<Value::List> read(Section& section, std::string_view key) const;
  [[nodiscard]] std::string range() const { return "list"; }
  [[nodiscard]] Value schema() const { return Value::Map{{"type", "array"}}; }
};

struct Anything {
  [[nodiscard]] std::optional<Value> read(Section& section, std::string_view key) const;
  [[nodiscard]] std::string range() const { return "anything"; }
  [[nodiscard]] Value schema() const { return Value::Map{}; }
};

/// A value that is checked as another kind and kept as written. If it is set, a note has `why` it
/// has no effect here; an empty `why` makes no note.
template <class Inner>
struct AsWritten {
  Inner inner{};
  std::string_view why{};

  [[nodiscard]] std::optional<Value> read(Section& section, std::string_view key) const {
    static_cast<void>(inner.read(section, key));
    const Value* value = section.any(key);
    if (value == nullptr) {
      return std::nullopt;
    }
    if (!why.empty() && !is_idle(*value)) {
      section.note(key, std::string(why));
    }
    return *value;
  }
  [[nodiscard]] Value write(const Value& value) const { return value; }
  [[nodiscard]] std::string range() const { return inner.range(); }
  [[nodiscard]] Value schema() const { return inner.schema(); }
};
template <class Inner>
AsWritten(Inner, std::string_view) -> AsWritten<Inner>;

}  // namespace kind

/// Writes the fields that have a value.
template <class Struct, class... Fields>
void write_given(const std::tuple<Fields...>& fields, const Struct& from, Value::Map& to) {
  engine::each_field(fields, [&](const auto& field) {
    if (Value value = engine::write_field(field, from); !value.is_null()) {
      to[field.name] = std::move(value);
    }
  });
}

namespace kind {

/// A map whose fields are declared in a table, with its own section on the docs page.
template <class Struct, const auto& fields>
struct Subsection : Group<Struct, fields> {
  [[nodiscard]] Value write(const Struct& value) const {
    Value::Map map;
    write_given(fields, value, map);
    return map;
  }
  [[nodiscard]] std::string range() const { return "map"; }
};

/// A list of such maps.
template <class Struct, const auto& fields>
struct ListOf {
  [[nodiscard]] std::optional<std::vector<Struct>> read(Section& section, std::string_view key) const {
    const Value::List* list = section.list(key);
    if (list == nullptr) {
      return std::nullopt;
    }
    std::vector<Struct> found;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string at = std::string(key) + "[" + std::to_string(i) + "]";
      if ((*list)[i].is_null()) {
        section.problem(at, "is null", "a map of " + required_names());
        continue;
      }
      Section item(&(*list)[i], section.path_of(at), section.findings());
      if ((*list)[i].as_map() != nullptr) {
        engine::read_fields(item, fields, found.emplace_back());
        item.finish();
      }
    }
    return found;
  }
  [[nodiscard]] Value write(const std::vector<Struct>& value) const {
    Value::List list;
    for (const Struct& item : value) {
      list.push_back(Subsection<Struct, fields>{}.write(item));
    }
    return list;
  }
  [[nodiscard]] std::string range() const { return "list of maps"; }
  [[nodiscard]] std::string allowed() const { return "a list of maps"; }
  [[nodiscard]] Value schema() const {
    return Value::Map{{"type", "array"}, {"items", Subsection<Struct, fields>{}.schema()}};
  }

 private:
  [[nodiscard]] static std::string required_names() {
    std::string text;
    engine::each_field(fields, [&text](const auto& field) {
      if (field.default_text == "required") {
        text += (text.empty() ? "" : " and ") + std::string(field.name);
      }
    });
    return text;
  }
};

}  // namespace kind

}  // namespace hpsearch::jobs
