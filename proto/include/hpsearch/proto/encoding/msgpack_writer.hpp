#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::proto {

using Bytes = std::vector<std::byte>;

/// Appends msgpack to bytes. Every number and length takes its shortest form, so equal values are equal
/// bytes; reals always stay reals, whatever their value.
class MsgpackWriter {
 public:
  explicit MsgpackWriter(Bytes& out) : out_(out) {}

  void null();
  void boolean(bool value);
  void natural(std::uint64_t value);
  void integer(std::int64_t value);
  void real(double value);
  /// What is not UTF-8 becomes U+FFFD: a reader refuses such text, and one odd byte that a program printed
  /// must not make a whole message unreadable.
  void text(std::string_view value);
  void bytes(std::string_view value);
  void list(std::size_t items);   ///< That many values follow.
  void map(std::size_t members);  ///< That many texts, each with its value, follow.
  void value(const engine::Value& value);

 private:
  Bytes& out_;
};

}  // namespace hpsearch::proto
