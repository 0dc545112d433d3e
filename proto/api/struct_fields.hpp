#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/proto/api/field_types.hpp"
#include "hpsearch/proto/api/schema.hpp"
#include "hpsearch/proto/encoding/spelling.hpp"
#include "hpsearch/proto/encoding/value_writer.hpp"

namespace hpsearch::proto {

/// A list of two.
template <class Out, class A, class B>
void put(Out& out, const std::pair<A, B>& pair) {
  out.list(2);
  put(out, pair.first);
  put(out, pair.second);
}
template <class A, class B>
[[nodiscard]] bool read(MsgpackItem item, std::pair<A, B>& pair, Trouble& trouble) {
  if (!expect(item, MsgpackItem::Kind::list, "a list", trouble)) {
    return false;
  }
  if (item.size() != 2) {
    return trouble.say("is not a list of two");
  }
  return read(item.first(), pair.first, trouble) && read(item.first().next(), pair.second, trouble);
}

}  // namespace hpsearch::proto

namespace hpsearch::api {

/// The fields of a struct of the API as a table, which takes less to compile than a writer, a reader and a
/// schema for each struct.
class StructFields {
 public:
  /// How members of one type are written and read.
  struct Type {
    void (*put)(proto::ValueWriter& out, const void* member);
    bool (*read)(proto::MsgpackItem item, void* member, proto::Trouble& trouble);
  };
  struct Field {
    std::string_view key;
    std::string_view about;
    std::ptrdiff_t place;  ///< Bytes from the start of the struct.
    Type type;
    bool (*is_empty)(const void* member);  ///< nullptr: the field is always there.
    engine::Value (*schema)(engine::Value::Map& named);
  };

  template <class T>
  explicit StructFields(const T& example)
      : schema_(T::schema), start_(reinterpret_cast<const std::byte*>(&example)) {
    T::list_fields(*this, example);
  }

  [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
  [[nodiscard]] const std::vector<Field>& list() const noexcept { return fields_; }

  // For list_fields.
  template <class T>
  void operator()(std::string_view key, const T& member, std::string_view about) {
    add(key, about, &member, type_of<T>, nullptr, schema_of<T>);
  }
  template <class T>
  void maybe(std::string_view key, const std::optional<T>& member, std::string_view about) {
    add(key, about, &member, type_of<std::optional<T>>, is_empty<std::optional<T>>, schema_of<T>);
  }
  template <class T>
  void maybe(std::string_view key, const T& member, std::string_view about) {
    add(key, about, &member, type_of<T>, is_empty<T>, schema_of<T>);
  }

 private:
  template <class T>
  static void put_member(proto::ValueWriter& out, const void* member) {
    put(out, *static_cast<const T*>(member));
  }
  template <class T>
  static bool read_member(proto::MsgpackItem item, void* member, proto::Trouble& trouble) {
    return read(item, *static_cast<T*>(member), trouble);
  }
  template <class T>
  static bool is_empty(const void* member) {
    return proto::is_empty(*static_cast<const T*>(member));
  }
  template <class T>
  static constexpr Type type_of{put_member<T>, read_member<T>};

  void add(std::string_view key, std::string_view about, const void* member, Type type,
           bool (*empty)(const void*), engine::Value (*describe)(engine::Value::Map&)) {
    fields_.push_back({key, about, static_cast<const std::byte*>(member) - start_, type, empty, describe});
  }

  const Schema& schema_;
  const std::byte* start_;  // The start of the example while its fields are listed.
  std::vector<Field> fields_;
};

}  // namespace hpsearch::api
