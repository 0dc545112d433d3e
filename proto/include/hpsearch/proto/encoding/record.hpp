#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/encoding/msgpack_tree.hpp"
#include "hpsearch/proto/encoding/msgpack_writer.hpp"
#include "hpsearch/proto/encoding/spelling.hpp"
#include "hpsearch/proto/encoding/value_writer.hpp"

// What a room keeps in files of its own: a struct that it has spelled (spell.hpp), or a variant of such
// structs, as bytes or, where people look into the file, as JSON. For sources: a header needs only spell.hpp.

namespace hpsearch::proto {

/// As msgpack. No version: a struct grows by fields that are `maybe`.
template <class T>
[[nodiscard]] std::string encode_record(const T& record) {
  Bytes bytes;
  MsgpackWriter out(bytes);
  put(out, record);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The word for a T in messages.
template <class T>
[[nodiscard]] constexpr std::string_view name_of_record() {
  if constexpr (Described<T>) {
    return T::schema.name;
  } else {
    return "the record";
  }
}

/// corrupt: not what encode_record() makes of a T, as it says. Never throws; costs a small multiple of the
/// bytes.
template <class T>
[[nodiscard]] engine::Result<T> decode_record(std::string_view bytes) {
  MsgpackTree tree;
  if (const auto filled = tree.fill(std::as_bytes(std::span(bytes)), {.bytes = bytes.size()}); !filled) {
    return filled.error();
  }
  T record{};
  Trouble trouble;
  if (!read(tree.root(), record, trouble)) {
    return corrupt_field(name_of_record<T>(), trouble);
  }
  return record;
}

/// As a Value, for JSON; what JSON cannot hold is as a ValueWriter leaves it.
template <class T>
[[nodiscard]] engine::Value encode_value(const T& record) {
  ValueWriter out;
  put(out, record);
  return out.take();
}

[[nodiscard]] std::string msgpack_of(const engine::Value& value);

/// corrupt: not what encode_value() makes of a T, as it says.
template <class T>
[[nodiscard]] engine::Result<T> decode_value(const engine::Value& value) {
  return decode_record<T>(msgpack_of(value));
}

}  // namespace hpsearch::proto
