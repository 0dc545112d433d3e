#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/config/describe_experiment.hpp"
#include "hpsearch/engine/config/section.hpp"

// Kinds of fields of an experiment file. A field is declared once, in a table: those of the search in
// engine/src/config/experiment_fields.hpp, those of the program in jobs/include/hpsearch/jobs/fields. Reading
// it, writing it back, its row in docs/experiment-file.md and its entry in the JSON Schema follow from the
// declaration.
//
// A kind has
//
//   read(section, key)  the value; nothing if the field is absent, or wrong and added to the problems
//   write(value)        the value as `hpsearch config` prints it
//   range()             type and range for the page
//   allowed()           the same for an error message
//   schema()            the same as JSON Schema, without null

namespace hpsearch::engine {

namespace kind {

struct Integer {
  std::uint64_t least = 0;
  std::uint64_t greatest = most_integer;
  bool absent_is_zero = false;  ///< The member has no default: 0 is printed as null.

  [[nodiscard]] std::optional<std::uint64_t> read(Section& section, std::string_view key) const {
    return section.integer(key, least, greatest);
  }
  [[nodiscard]] Value write(std::uint64_t value) const;
  [[nodiscard]] std::string range() const;
  [[nodiscard]] std::string allowed() const { return integers_between(least, greatest); }
  [[nodiscard]] Value schema() const;
};

struct Number {
  std::optional<double> above;

  [[nodiscard]] std::optional<double> read(Section& section, std::string_view key) const {
    return above ? section.number_above(key, *above) : section.number(key);
  }
  [[nodiscard]] Value write(double value) const { return value; }
  [[nodiscard]] std::string range() const;
  [[nodiscard]] std::string allowed() const { return "a " + range(); }
  [[nodiscard]] Value schema() const;
};

/// A number from 0 to `greatest`.
struct Share {
  double greatest = 1;

  [[nodiscard]] std::optional<double> read(Section& section, std::string_view key) const;
  [[nodiscard]] Value write(double value) const { return value; }
  [[nodiscard]] std::string range() const;
  [[nodiscard]] std::string allowed() const { return "a " + range(); }
  [[nodiscard]] Value schema() const {
    return Value::Map{{"type", "number"}, {"minimum", 0}, {"maximum", greatest}};
  }
};

/// A finite number of at least 0.
struct Amount {
  [[nodiscard]] std::optional<double> read(Section& section, std::string_view key) const;
  [[nodiscard]] Value write(double value) const { return value; }
  [[nodiscard]] std::string range() const { return "number from 0"; }
  [[nodiscard]] std::string allowed() const { return "a number of at least 0"; }
  [[nodiscard]] Value schema() const { return Value::Map{{"type", "number"}, {"minimum", 0}}; }
};

struct Boolean {
  [[nodiscard]] std::optional<bool> read(Section& section, std::string_view key) const {
    return section.boolean(key);
  }
  [[nodiscard]] Value write(bool value) const { return value; }
  [[nodiscard]] std::string range() const { return "boolean"; }
  [[nodiscard]] std::string allowed() const { return "true or false"; }
  [[nodiscard]] Value schema() const { return Value::Map{{"$ref", "#/definitions/flag"}}; }
};

struct Text {
  [[nodiscard]] std::optional<std::string> read(Section& section, std::string_view key) const {
    return section.text(key);
  }
  [[nodiscard]] Value write(const std::string& value) const { return value; }
  [[nodiscard]] std::string range() const { return "text"; }
  [[nodiscard]] std::string allowed() const { return "a string"; }
  [[nodiscard]] Value schema() const { return Value::Map{{"type", "string"}}; }
};

struct ListOfTexts {
  [[nodiscard]] std::optional<std::vector<std::string>> read(Section& section, std::string_view key) const {
    return section.texts(key);
  }
  [[nodiscard]] Value write(const std::vector<std::string>& value) const;
  [[nodiscard]] std::string range() const { return "list of texts"; }
  [[nodiscard]] std::string allowed() const { return "a list of strings"; }
  [[nodiscard]] Value schema() const;
};

/// One text, or a list of them.
struct Conditions {
  [[nodiscard]] std::optional<std::vector<std::string>> read(Section& section, std::string_view key) const;
  [[nodiscard]] Value write(const std::vector<std::string>& value) const {
    return ListOfTexts{}.write(value);
  }
  [[nodiscard]] std::string range() const { return "text or list of texts"; }
  [[nodiscard]] std::string allowed() const { return "a string, or a list of strings"; }
  [[nodiscard]] Value schema() const;
};

/// Keys are not empty.
struct MapOfTexts {
  [[nodiscard]] std::optional<std::map<std::string, std::string>> read(Section& section,
                                                                       std::string_view key) const;
  [[nodiscard]] Value write(const std::map<std::string, std::string>& value) const;
  [[nodiscard]] std::string range() const { return "map of texts"; }
  [[nodiscard]] std::string allowed() const { return "a map of strings"; }
  [[nodiscard]] Value schema() const;
};

/// A length of time above 0.
struct Time {
  [[nodiscard]] std::optional<Duration> read(Section& section, std::string_view key) const;
  [[nodiscard]] Value write(Duration value) const { return value.in_seconds(); }
  [[nodiscard]] std::string range() const { return "time"; }
  [[nodiscard]] std::string allowed() const;
  [[nodiscard]] Value schema() const { return Value::Map{{"$ref", "#/definitions/duration"}}; }
};

/// One of an enum's names.
template <class Enum, std::size_t count>
struct OneOf {
  std::array<std::pair<std::string_view, Enum>, count> choices;

  [[nodiscard]] std::optional<Enum> read(Section& section, std::string_view key) const {
    const std::optional<std::string> word = section.text_in(key, names());
    for (const auto& [name, value] : choices) {
      if (word == name) {
        return value;
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] Value write(Enum value) const {
    for (const auto& [name, choice] : choices) {
      if (choice == value) {
        return name;
      }
    }
    return {};
  }
  [[nodiscard]] std::string range() const {
    std::string text;
    for (const std::string_view name : names()) {
      text += (text.empty() ? "`" : ", `") + std::string(name) + "`";
    }
    return text;
  }
  [[nodiscard]] std::string allowed() const {
    const auto all = names();
    return any_of(all);
  }
  [[nodiscard]] Value schema() const {
    Value::List list;
    for (const std::string_view name : names()) {
      list.emplace_back(name);
    }
    return Value::Map{{"enum", std::move(list)}};
  }

 private:
  [[nodiscard]] constexpr std::array<std::string_view, count> names() const {
    std::array<std::string_view, count> found;
    for (std::size_t i = 0; i < count; ++i) {
      found[i] = choices[i].first;
    }
    return found;
  }
};

/// A map whose fields are declared in a table of their own.
template <class Struct, const auto& fields>
struct Group {
  [[nodiscard]] std::optional<Struct> read(Section& section, std::string_view key) const {
    if (!section.has(key)) {
      section.know(key);
      return std::nullopt;
    }
    Section group = section.section(key);
    Struct found;
    read_fields(group, fields, found);
    group.finish();
    return found;
  }
  [[nodiscard]] Value write(const Struct& value) const {
    Value::Map map;
    write_fields(fields, value, map);
    return map;
  }
  [[nodiscard]] std::string range() const {
    std::string text;
    each_field(fields, [&text](const auto& field) {
      text += (text.empty() ? "map of `" : ", `") + std::string(field.name) + "`: " + field.kind.range();
    });
    return text;
  }
  [[nodiscard]] std::string allowed() const { return "a map"; }
  [[nodiscard]] Value schema() const {
    Value::Map properties;
    each_field(fields, [&properties](const auto& field) {
      Value::Map schema = *field.kind.schema().as_map();
      if (const Value* type = schema.find("type")) {  // Null means that the field is left out.
        schema["type"] = Value::List{*type, "null"};
      }
      properties[field.name] = std::move(schema);
    });
    return Value::Map{
        {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  }
};

}  // namespace kind

template <class Struct, class Member, class Kind>
struct Field {
  std::string_view name;
  Member Struct::*member;
  Kind kind;
  std::string_view meaning;            ///< As on the page, in Markdown.
  std::string_view default_text = {};  ///< On the page, when it is not the member's value.
};
// clang 14, whose clang-tidy reads this, deduces no arguments for aggregates by itself.
template <class Struct, class Member, class Kind>
Field(std::string_view, Member Struct::*, Kind, std::string_view) -> Field<Struct, Member, Kind>;
template <class Struct, class Member, class Kind>
Field(std::string_view, Member Struct::*, Kind, std::string_view, std::string_view)
    -> Field<Struct, Member, Kind>;

template <class Member>
inline constexpr bool is_optional = false;
template <class Member>
inline constexpr bool is_optional<std::optional<Member>> = true;

/// Reads one field. What is absent or wrong leaves the member as it is.
template <class Struct, class Member, class Kind>
void read_field(Section& section, const Field<Struct, Member, Kind>& field, Struct& to) {
  if (auto found = field.kind.read(section, field.name)) {
    to.*field.member = std::move(*found);
  }
}

template <class Struct, class Member, class Kind>
[[nodiscard]] Value write_field(const Field<Struct, Member, Kind>& field, const Struct& from) {
  if constexpr (is_optional<Member>) {
    const Member& value = from.*field.member;
    return value ? field.kind.write(*value) : Value();
  } else {
    return field.kind.write(from.*field.member);
  }
}

template <class... Fields>
void each_field(const std::tuple<Fields...>& fields, auto&& visit) {
  std::apply([&](const Fields&... field) { (visit(field), ...); }, fields);
}

template <class Struct, class... Fields>
void read_fields(Section& section, const std::tuple<Fields...>& fields, Struct& to) {
  each_field(fields, [&](const auto& field) { read_field(section, field, to); });
}

template <class Struct, class... Fields>
void write_fields(const std::tuple<Fields...>& fields, const Struct& from, Value::Map& to) {
  each_field(fields, [&](const auto& field) { to[field.name] = write_field(field, from); });
}

template <class Struct, class Member, class Kind>
[[nodiscard]] FieldDescription describe_field(const Field<Struct, Member, Kind>& field) {
  return {std::string(field.name), std::string(field.meaning),   field.kind.range(),
          field.kind.schema(),     write_field(field, Struct{}), std::string(field.default_text)};
}

}  // namespace hpsearch::engine
