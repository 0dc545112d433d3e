#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hpsearch/proto/encoding/msgpack_tree.hpp"
#include "hpsearch/proto/encoding/spell.hpp"
#include "hpsearch/proto/events/state_words.hpp"

// Answers of the API and bodies of requests are structs. The struct declares everything about them:
//
//   schema        its name in docs/openapi.json and in the types of the web pages, and a sentence
//   list_fields   its fields. `fields(key, member, sentence)` is a field that is always there;
//                 `fields.maybe(key, member, sentence)` is left out if it is empty
//
// The writer and the reader (encoding/record.hpp: encode_value, decode_value) and the description of the API
// (api/schema.hpp) follow a table, which proto/api/structs.cpp makes of list_fields once for each struct: a
// new struct is a line there. The type of a member says which JSON it is: an optional is null if it
// is empty, engine::Units and Count are texts above 9223372036854775807. Times are seconds since the epoch,
// durations are seconds, both double.

namespace hpsearch::proto {
class ValueWriter;
struct Trouble;
}  // namespace hpsearch::proto

namespace hpsearch::api {

/// The struct in the description of the API.
struct Schema {
  enum class Kind : bool { answer, body };  ///< Answers may gain members; bodies may not have others.
  std::string_view name;
  std::string_view about;
  Kind kind = Kind::answer;
};

class StructFields;

/// The table of the fields that T::list_fields declares.
template <proto::Described T>
[[nodiscard]] const StructFields& fields_of();

void put_fields(proto::ValueWriter& out, const StructFields& fields, const void* self);
[[nodiscard]] bool read_fields(proto::MsgpackItem item, const StructFields& fields, void* self,
                               proto::Trouble& trouble);

/// A value of a metric, which may be infinite or not a number.
struct Metric {
  double value = 0;

  Metric() = default;
  Metric(double metric) : value(metric) {}   // NOLINT(google-explicit-constructor)
  operator double() const { return value; }  // NOLINT(google-explicit-constructor)
};

template <class Out>
void put(Out& out, const Metric& metric) {
  out.real(metric.value);
}
template <class Item, class Trouble>
[[nodiscard]] bool read(Item item, Metric& metric, Trouble& trouble) {
  return read(item, metric.value, trouble);
}

template <std::size_t size>
struct Literal {
  char text[size]{};

  consteval Literal(const char (&from)[size]) {  // NOLINT(google-explicit-constructor)
    std::copy_n(from, size, text);
  }
  [[nodiscard]] constexpr std::string_view view() const { return {text, size - 1}; }
};

/// One of these words. A word in the sources that is none of them does not compile.
template <Literal... words>
class OneOf {
 public:
  static constexpr std::array<std::string_view, sizeof...(words)> all{words.view()...};

  constexpr OneOf() = default;
  consteval OneOf(const char* word)  // NOLINT(google-explicit-constructor)
      : place_(static_cast<std::size_t>(std::find(all.begin(), all.end(), word) - all.begin())) {
    static_cast<void>(all.at(place_));
  }
  [[nodiscard]] static std::optional<OneOf> find(std::string_view word) {
    OneOf found;
    found.place_ = static_cast<std::size_t>(std::find(all.begin(), all.end(), word) - all.begin());
    return found.place_ < all.size() ? std::optional(found) : std::nullopt;
  }

  [[nodiscard]] constexpr std::string_view text() const { return all[place_]; }
  friend bool operator==(const OneOf&, const OneOf&) = default;

 private:
  std::size_t place_ = 0;
};

}  // namespace hpsearch::api

namespace hpsearch::proto {

template <Described T>
void put(ValueWriter& out, const T& value) {
  api::put_fields(out, api::fields_of<T>(), &value);
}
template <Described T>
[[nodiscard]] bool read(MsgpackItem item, T& value, Trouble& trouble) {
  return api::read_fields(item, api::fields_of<T>(), &value, trouble);
}

template <api::Literal... words>
struct Words<api::OneOf<words...>> {
  static constexpr auto& all = api::OneOf<words...>::all;
  static std::string_view of(const api::OneOf<words...>& word) { return word.text(); }
  static std::optional<api::OneOf<words...>> find(std::string_view word) {
    return api::OneOf<words...>::find(word);
  }
};

}  // namespace hpsearch::proto
