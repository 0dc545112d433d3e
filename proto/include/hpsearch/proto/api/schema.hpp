#pragma once

#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/api/field_types.hpp"

// JSON Schemas of answers and bodies, from their list_fields (api/field_types.hpp).

namespace hpsearch::api {

namespace json_schema {

using engine::Value;

[[nodiscard]] Value of_type(std::string_view type);
[[nodiscard]] Value whole_number();
[[nodiscard]] Value or_null(Value schema);
[[nodiscard]] Value one_of(const std::vector<std::string_view>& words);
[[nodiscard]] Value reference_to(std::string_view name);
[[nodiscard]] Value describe(const StructFields& fields, Value::Map& named);
/// The schemas that a "$ref" of any other may name: Count, Metric.
[[nodiscard]] Value::Map shared();

}  // namespace json_schema

/// The schema of T. Structs in it are references, and stand in `named` under their names afterwards.
template <class T>
[[nodiscard]] engine::Value schema_of(engine::Value::Map& named);

namespace json_schema {

template <class T>
inline constexpr bool is_id = false;
template <class Kind>
inline constexpr bool is_id<engine::Id<Kind>> = true;

template <class Enum>
[[nodiscard]] std::vector<std::string_view> words_of() {
  using Words = proto::Words<Enum>;
  if constexpr (requires { Words::all; }) {
    return {Words::all.begin(), Words::all.end()};
  } else {
    std::vector<std::string_view> words;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(Words::last); ++i) {
      words.push_back(Words::of(static_cast<Enum>(i)));
    }
    return words;
  }
}

template <class T>
struct Of {
  static Value schema(Value::Map& named) {
    if constexpr (std::same_as<T, bool>) {
      return of_type("boolean");
    } else if constexpr (std::same_as<T, engine::Units> || std::same_as<T, engine::Cardinality>) {
      return reference_to("Count");
    } else if constexpr (std::same_as<T, Metric>) {
      return reference_to("Metric");
    } else if constexpr (std::same_as<T, double>) {
      return of_type("number");
    } else if constexpr (std::same_as<T, std::string>) {
      return of_type("string");
    } else if constexpr (std::same_as<T, Value>) {
      return Value::Map{};
    } else if constexpr (std::same_as<T, Value::Map>) {
      return of_type("object");
    } else if constexpr (is_id<T> || std::unsigned_integral<T>) {
      return whole_number();
    } else if constexpr (requires { proto::Words<T>::of; }) {
      return one_of(words_of<T>());
    } else if constexpr (proto::Described<T>) {
      return describe(fields_of<T>(), named);
    } else {
      static_assert(proto::ListsFields<T>, "a struct of an answer has a schema");
      return of_type("object");  // A stored struct of the engine.
    }
  }
};

template <class T>
struct Of<std::optional<T>> {
  static Value schema(Value::Map& named) { return or_null(schema_of<T>(named)); }
};

template <class T>
struct Of<std::vector<T>> {
  static Value schema(Value::Map& named) {
    return Value::Map{{"items", schema_of<T>(named)}, {"type", "array"}};
  }
};

template <class T>
struct Of<std::map<std::string, T>> {
  static Value schema(Value::Map& named) {
    return Value::Map{{"additionalProperties", schema_of<T>(named)}, {"type", "object"}};
  }
};

/// A list of two.
template <class A, class B>
struct Of<std::pair<A, B>> {
  static Value schema(Value::Map& named) {
    return Value::Map{{"items", false},
                      {"minItems", 2},
                      {"prefixItems", Value::List{schema_of<A>(named), schema_of<B>(named)}},
                      {"type", "array"}};
  }
};

template <class... Any>
struct Of<std::variant<Any...>> {
  static Value schema(Value::Map& named) {
    return Value::Map{{"anyOf", Value::List{schema_of<Any>(named)...}}};
  }
};

}  // namespace json_schema

template <class T>
engine::Value schema_of(engine::Value::Map& named) {
  return json_schema::Of<T>::schema(named);
}

}  // namespace hpsearch::api
