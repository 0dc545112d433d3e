#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "events/spell_event.hpp"
#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/proto/encoding/spelling.hpp"
#include "hpsearch/proto/wire/spell_attempt.hpp"

namespace hpsearch::test {

/// Follows a spelling and sets every field to a fixed value: numbers count up from 1, a
/// text is its field's key, a list has two items, an enum has its second word.
class Filler {
 public:
  template <class T>
  void operator()(const char* key, T& member) {
    fill(key, member);
  }
  template <class T>
  void maybe(const char* key, T& member) {
    (*this)(key, member);
  }
  template <class T>
  void bytes(const char* key, T& member) {
    (*this)(key, member);
  }

 private:
  static void fill(const char* /*key*/, bool& member) { member = true; }
  void fill(const char* /*key*/, double& member) { member = static_cast<double>(++number_) + 0.5; }
  template <class T>
  requires std::is_integral_v<T>
  void fill(const char* /*key*/, T& member) { member = static_cast<T>(++number_); }
  static void fill(const char* key, std::string& member) { member = key; }
  void fill(const char* key, engine::Value& member) {
    member = engine::Value::Map{{key, static_cast<std::int64_t>(++number_)}};
  }
  void fill(const char* /*key*/, engine::Units& member) { member = engine::Units{++number_}; }
  void fill(const char* /*key*/, engine::Duration& member) {
    member = engine::Duration::seconds(static_cast<std::int64_t>(++number_));
  }
  static void fill(const char* key, std::map<std::string, std::string>& member) { member = {{key, key}}; }
  void fill(const char* key, engine::Metrics& member) {
    member = {{key, static_cast<double>(++number_) + 0.5}};
  }
  template <class Kind>
  void fill(const char* /*key*/, engine::Id<Kind>& member) {
    member = engine::Id<Kind>(++number_);
  }
  template <proto::Worded Enum>
  void fill(const char* /*key*/, Enum& member) {
    member = static_cast<Enum>(1);
  }
  template <class T>
  void fill(const char* key, std::optional<T>& member) {
    fill(key, member.emplace());
  }
  template <class T>
  void fill(const char* key, std::vector<T>& member) {
    member.resize(2);
    for (T& item : member) {
      fill(key, item);
    }
  }
  template <class First, class... Others>
  void fill(const char* key, std::variant<First, Others...>& member) {
    fill(key, member.template emplace<First>());
  }
  template <proto::Spelled T>
  void fill(const char* /*key*/, T& member) {
    using proto::spell;
    spell(*this, member);
  }

  std::uint64_t number_ = 0;
};

/// An event with all fields set.
template <class Kind>
[[nodiscard]] Kind filled() {
  Kind event;
  Filler filler;
  Kind::list_fields(filler, event);
  return event;
}

/// Calls `see` with an event of each kind, in the order of EventBody.
template <class See>
void for_each_kind_of_event(See see) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (see(std::variant_alternative_t<i, engine::EventBody>()), ...);
  }
  (std::make_index_sequence<std::variant_size_v<engine::EventBody>>());
}

}  // namespace hpsearch::test
