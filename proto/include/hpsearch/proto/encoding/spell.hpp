#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

// How structs become maps and back. Each struct is spelled once, beside it, by a function
//
//   void spell(auto& fields, proto::Is<engine::Decision> auto& decision) {
//     fields("directive", decision.directive);      // always there; a reader refuses a map without it
//     fields.maybe("length", decision.length);      // left out when empty; a reader then keeps what it has
//     fields.bytes("text", decision.text);          // any bytes: fields() makes a text UTF-8
//   }
//
// which FieldWriter and FieldReader (spelling.hpp) both follow. Fields that a later version adds are `maybe`:
// old readers skip them, new readers do without.
//
// Structs of the engine that are stored have this function as a member: list_fields (experiment/events.hpp).

namespace hpsearch::proto {

template <class T, class Wanted>
concept Is = std::same_as<std::remove_const_t<T>, Wanted>;

/// What follows a spelling, as far as list_fields uses it.
struct AnyFields {
  void operator()(std::string_view key, const auto& member, std::string_view about = {});
  void maybe(std::string_view key, const auto& member, std::string_view about = {});
};

template <class T>
concept ListsFields = requires(AnyFields& fields, T& value) {
  std::remove_const_t<T>::list_fields(fields, value);
};

/// A struct of the API, which is written and read by its table of fields (api/field_types.hpp).
template <class T>
concept Described = requires {
  T::schema;
};

void spell(auto& fields, ListsFields auto& value) {
  std::remove_cvref_t<decltype(value)>::list_fields(fields, value);
}

template <class T>
[[nodiscard]] consteval const char* type_in() {
  if constexpr (ListsFields<T> && requires { T::type; }) {
    return T::type;
  } else {
    return nullptr;
  }
}

/// The word that stands for a struct among its variant's alternatives: a message's or an event's type.
template <class T>
inline constexpr const char* tag_of = type_in<T>();

/// The words of an enum: `of` gives one, `find` reads it back.
template <class Enum>
struct Words {};

}  // namespace hpsearch::proto
