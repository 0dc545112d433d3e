#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/proto/encoding/msgpack_tree.hpp"
#include "hpsearch/proto/encoding/spell.hpp"
#include "hpsearch/proto/encoding/value_writer.hpp"

// The two that follow a spelling (spell.hpp): FieldWriter and FieldReader. An `Out` is a MsgpackWriter or a
// ValueWriter.

namespace hpsearch::proto {

/// The tag of what a variant holds.
template <class... Alternatives>
[[nodiscard]] const char* tag_in(const std::variant<Alternatives...>& variant) noexcept {
  static_assert(((tag_of<Alternatives> != nullptr) && ...), "every alternative has a tag");
  constexpr const char* tags[] = {tag_of<Alternatives>...};
  return tags[variant.index()];
}

template <class Enum>
concept Worded = requires(Enum value) {
  Words<Enum>::of(value);
};

/// What is wrong with a message, and where in it: "reports[3].step" "is missing".
struct Trouble {
  std::string where;
  std::string what;

  bool say(std::string words) {
    what = std::move(words);
    return false;
  }
  bool below(std::string_view name) {
    const bool joined = where.empty() || where.front() == '[';
    where.insert(0, std::string(name) + (joined ? "" : "."));
    return false;
  }
};

template <class T>
[[nodiscard]] bool is_empty(const T& value) {
  if constexpr (requires { value.has_value(); }) {
    return !value.has_value();
  } else if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else if constexpr (std::same_as<T, engine::Value>) {
    return value.is_null();
  } else {
    return value == T{};
  }
}

/// "TYPE: reports[3].step is missing".
[[nodiscard]] engine::Error corrupt_field(std::string_view type, const Trouble& trouble);

// --- writing ---

template <class Out>
class FieldWriter {
 public:
  explicit FieldWriter(Out& out) : out_(out) {}

  template <class T>
  void operator()(std::string_view key, const T& member, std::string_view /*about*/ = {}) {
    out_.text(key);
    put(out_, member);
  }
  template <class T>
  void maybe(std::string_view key, const T& member, std::string_view /*about*/ = {}) {
    if (!is_empty(member)) {
      (*this)(key, member);
    }
  }
  /// A text that may be any bytes; or a list of such texts, or a map.
  template <class T>
  void bytes(std::string_view key, const T& member) {
    out_.text(key);
    put_bytes(out_, member);
  }

 private:
  Out& out_;
};

/// Follows a spelling like a writer, to know the size of the map before its first member.
class FieldCounter {
 public:
  template <class T>
  void operator()(std::string_view /*key*/, const T& /*member*/, std::string_view /*about*/ = {}) {
    ++count_;
  }
  template <class T>
  void maybe(std::string_view /*key*/, const T& member, std::string_view /*about*/ = {}) {
    if (!is_empty(member)) {
      ++count_;
    }
  }
  template <class T>
  void bytes(std::string_view /*key*/, const T& /*member*/) {
    ++count_;
  }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  std::size_t count_ = 0;
};

template <class T>
concept Spelled = !Described<T> && requires(FieldCounter & fields, const T& value) {
  spell(fields, value);
};

template <class Out>
void put(Out& out, const bool& value) {
  out.boolean(value);
}

template <class Out, std::unsigned_integral T>
void put(Out& out, const T& value) {
  out.natural(value);
}

template <class Out, std::signed_integral T>
void put(Out& out, const T& value) {
  out.integer(value);
}

template <class Out>
void put(Out& out, const double& value) {
  out.real(value);
}

template <class Out>
void put(Out& out, const std::string& value) {
  out.text(value);
}

template <class Out>
void put(Out& out, const engine::Value& value) {
  out.value(value);
}

template <class Out>
void put(Out& out, const engine::Value::Map& value) {
  out.value(value);
}

template <class Out>
void put(Out& out, const engine::Cardinality& count) {
  out.value(count_value(count));
}

template <class Out, class Kind>
void put(Out& out, const engine::Id<Kind>& id) {
  out.natural(id.number());
}

template <class Out>
void put(Out& out, const engine::Units& units) {
  out.natural(engine::count(units));
}

/// In milliseconds; a span below zero is none.
template <class Out>
void put(Out& out, const engine::Duration& span) {
  out.natural(static_cast<std::uint64_t>(std::max<std::int64_t>(0, span.in_micros()) / 1'000));
}

template <class Out, Worded Enum>
void put(Out& out, const Enum& value) {
  out.text(Words<Enum>::of(value));
}

template <class Out, class T>
void put(Out& out, const std::optional<T>& value) {
  if (value) {
    put(out, *value);
  } else {
    out.null();
  }
}

template <class Out, class T>
void put(Out& out, const std::vector<T>& items) {
  out.list(items.size());
  for (const T& item : items) {
    put(out, item);
  }
}

template <class Out, class T>
void put(Out& out, const std::map<std::string, T>& members) {
  out.map(members.size());
  for (const auto& [key, member] : members) {
    out.text(key);
    put(out, member);
  }
}

template <class Out>
void put_bytes(Out& out, const std::string& value) {
  out.bytes(value);
}

template <class Out>
void put_bytes(Out& out, const std::vector<std::string>& items) {
  out.list(items.size());
  for (const std::string& item : items) {
    out.bytes(item);
  }
}

/// A list of key, value, key, value …: in a map, a key has to be a text.
template <class Out>
void put_bytes(Out& out, const std::map<std::string, std::string>& members) {
  out.list(2 * members.size());
  for (const auto& [key, value] : members) {
    out.bytes(key);
    out.bytes(value);
  }
}

/// Sorted, and the last value of a name that stands twice: so that no reader refuses what we wrote.
[[nodiscard]] engine::Metrics tidy(engine::Metrics metrics);
[[nodiscard]] bool is_tidy(const engine::Metrics& metrics) noexcept;

template <class Out>
void put(Out& out, const engine::Metrics& metrics) {
  if (!is_tidy(metrics)) {
    put(out, tidy(metrics));
    return;
  }
  out.map(metrics.size());
  for (const auto& [name, value] : metrics) {
    out.text(name);
    out.real(value);
  }
}

template <class Out, Spelled T>
void put(Out& out, const T& value) {
  FieldCounter counter;
  spell(counter, value);
  out.map(counter.count());
  FieldWriter<Out> fields(out);
  spell(fields, value);
}

/// One of several structs, as one map: its tag under "type", then its fields.
template <class Out, class... Alternatives>
void put(Out& out, const std::variant<Alternatives...>& variant) {
  std::visit(
      [&out](const auto& value) {
        FieldCounter counter;
        spell(counter, value);
        out.map(counter.count() + 1);
        out.text("type");
        out.text(tag_of<std::remove_cvref_t<decltype(value)>>);
        FieldWriter<Out> fields(out);
        spell(fields, value);
      },
      variant);
}

// --- reading ---

/// The value under a key of a map; nothing when it is not there. A key that stands twice is trouble.
[[nodiscard]] std::optional<MsgpackItem> find_key(MsgpackItem map, std::string_view key, Trouble& trouble);

class FieldReader {
 public:
  /// `map` must be one.
  FieldReader(MsgpackItem map, Trouble& trouble) : map_(map), trouble_(trouble) {}

  template <class T>
  void operator()(std::string_view key, T& member, std::string_view /*about*/ = {}) {
    read_field(key, true, [&](MsgpackItem item) { return read(item, member, trouble_); });
  }
  template <class T>
  void maybe(std::string_view key, T& member, std::string_view /*about*/ = {}) {
    read_field(key, false, [&](MsgpackItem item) {
      return item.kind() == MsgpackItem::Kind::null || read(item, member, trouble_);
    });
  }
  template <class T>
  void bytes(std::string_view key, T& member) {
    read_field(key, true, [&](MsgpackItem item) { return read_bytes(item, member, trouble_); });
  }

 private:
  template <class Read>
  void read_field(std::string_view key, bool required, Read read_item) {
    if (!trouble_.what.empty()) {
      return;
    }
    const std::optional<MsgpackItem> item = find_key(map_, key, trouble_);
    if (item) {
      if (!read_item(*item)) {
        trouble_.below(key);
      }
    } else if (required && trouble_.what.empty()) {
      trouble_.say("is missing");
      trouble_.below(key);
    }
  }

  MsgpackItem map_;
  Trouble& trouble_;
};

/// True when the item is of that kind, trouble otherwise.
[[nodiscard]] bool expect(MsgpackItem item, MsgpackItem::Kind kind, const char* wanted, Trouble& trouble);

[[nodiscard]] bool read(MsgpackItem item, bool& out, Trouble& trouble);
[[nodiscard]] bool read(MsgpackItem item, std::uint64_t& out, Trouble& trouble);
[[nodiscard]] bool read(MsgpackItem item, std::uint32_t& out, Trouble& trouble);
[[nodiscard]] bool read(MsgpackItem item, std::int64_t& out, Trouble& trouble);
[[nodiscard]] bool read(MsgpackItem item, int& out, Trouble& trouble);
[[nodiscard]] bool read(MsgpackItem item, double& out, Trouble& trouble);
[[nodiscard]] bool read(MsgpackItem item, std::string& out, Trouble& trouble);
[[nodiscard]] bool read(MsgpackItem item, engine::Value& out, Trouble& trouble);
[[nodiscard]] bool read(MsgpackItem item, engine::Value::Map& out, Trouble& trouble);
[[nodiscard]] bool read(MsgpackItem item, engine::Cardinality& out, Trouble& trouble);
[[nodiscard]] bool read(MsgpackItem item, engine::Units& out, Trouble& trouble);
[[nodiscard]] bool read(MsgpackItem item, engine::Duration& out, Trouble& trouble);
[[nodiscard]] bool read(MsgpackItem item, engine::Metrics& out, Trouble& trouble);

[[nodiscard]] bool read_bytes(MsgpackItem item, std::string& out, Trouble& trouble);
[[nodiscard]] bool read_bytes(MsgpackItem item, std::vector<std::string>& out, Trouble& trouble);
[[nodiscard]] bool read_bytes(MsgpackItem item, std::map<std::string, std::string>& out, Trouble& trouble);

template <class Kind>
[[nodiscard]] bool read(MsgpackItem item, engine::Id<Kind>& out, Trouble& trouble) {
  std::uint64_t number = 0;
  if (!read(item, number, trouble)) {
    return false;
  }
  out = engine::Id<Kind>(number);
  return true;
}

template <Worded Enum>
[[nodiscard]] bool read(MsgpackItem item, Enum& out, Trouble& trouble) {
  if (!expect(item, MsgpackItem::Kind::text, "a text", trouble)) {
    return false;
  }
  const std::optional<Enum> found = Words<Enum>::find(item.text());
  if (!found) {
    return trouble.say("is no word known here: \"" + std::string(item.text().substr(0, 40)) + "\"");
  }
  out = *found;
  return true;
}

template <class T>
[[nodiscard]] bool read(MsgpackItem item, std::optional<T>& out, Trouble& trouble) {
  if (item.kind() == MsgpackItem::Kind::null) {
    out.reset();
    return true;
  }
  return read(item, out.emplace(), trouble);
}

template <class T>
[[nodiscard]] bool read(MsgpackItem item, std::vector<T>& out, Trouble& trouble) {
  if (!expect(item, MsgpackItem::Kind::list, "a list", trouble)) {
    return false;
  }
  const std::uint32_t size = item.size();
  out.clear();
  out.reserve(size);  // The tree holds that many items already.
  for (std::uint32_t i = 0; i < size; ++i) {
    item = i == 0 ? item.first() : item.next();
    if (!read(item, out.emplace_back(), trouble)) {
      return trouble.below("[" + std::to_string(i) + "]");
    }
  }
  return true;
}

/// Calls take(key, item) for each member of a map, in order, until one returns false.
template <class Take>
bool each_member(MsgpackItem map, Take take) {
  const std::uint32_t size = map.size();
  MsgpackItem at = map;
  for (std::uint32_t i = 0; i < size; ++i) {
    const MsgpackItem key = i == 0 ? at.first() : at.next();
    at = key.next();
    if (!take(key.text(), at)) {
      return false;
    }
  }
  return true;
}

template <class T>
[[nodiscard]] bool read(MsgpackItem item, std::map<std::string, T>& out, Trouble& trouble) {
  if (!expect(item, MsgpackItem::Kind::map, "a map", trouble)) {
    return false;
  }
  out.clear();
  return each_member(item, [&](std::string_view name, MsgpackItem value) {
    const auto [place, is_new] = out.try_emplace(std::string(name));
    if (!is_new) {
      trouble.say("stands twice");
    }
    return (is_new && read(value, place->second, trouble)) || trouble.below(name);
  });
}

template <Spelled T>
[[nodiscard]] bool read(MsgpackItem item, T& out, Trouble& trouble) {
  if (!expect(item, MsgpackItem::Kind::map, "a map", trouble)) {
    return false;
  }
  FieldReader fields(item, trouble);
  spell(fields, out);
  return trouble.what.empty();
}

/// Makes `out` the alternative whose tag is `tag` and returns what `read_body` says of it; nothing when no
/// alternative has it.
template <class... Alternatives, class ReadBody>
[[nodiscard]] std::optional<bool> read_alternative(std::string_view tag, std::variant<Alternatives...>& out,
                                                   ReadBody read_body) {
  std::optional<bool> done;
  const auto attempt = [&]<class Alternative>() {
    constexpr std::string_view its_tag = tag_of<Alternative>;
    if (tag.size() != its_tag.size() || std::memcmp(tag.data(), its_tag.data(), its_tag.size()) != 0) {
      return false;
    }
    done = read_body(out.template emplace<Alternative>());
    return true;
  };
  (attempt.template operator()<Alternatives>() || ...);
  return done;
}

/// The same, reading it from `body`.
template <class... Alternatives>
[[nodiscard]] std::optional<bool> read_tagged(std::string_view tag, MsgpackItem body,
                                              std::variant<Alternatives...>& out, Trouble& trouble) {
  return read_alternative(tag, out, [&](auto& alternative) { return read(body, alternative, trouble); });
}

template <class... Alternatives>
[[nodiscard]] bool read(MsgpackItem item, std::variant<Alternatives...>& out, Trouble& trouble) {
  if (!expect(item, MsgpackItem::Kind::map, "a map", trouble)) {
    return false;
  }
  const std::optional<MsgpackItem> type = find_key(item, "type", trouble);
  if (!type) {
    return trouble.what.empty() ? trouble.say("has no type") : false;
  }
  if (!expect(*type, MsgpackItem::Kind::text, "a text", trouble)) {
    return trouble.below("type");
  }
  const std::optional<bool> done = read_tagged(type->text(), item, out, trouble);
  if (!done) {
    trouble.say("is none known here: \"" + std::string(type->text().substr(0, 40)) + "\"");
    return trouble.below("type");
  }
  return *done;
}

}  // namespace hpsearch::proto
