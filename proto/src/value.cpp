#include "hpsearch/proto/value.hpp"

#include "msgpack_tree.hpp"
#include "msgpack_writer.hpp"
#include "spelling.hpp"
#include "versioned.hpp"

namespace hpsearch::proto {

Bytes encode_value(const engine::Value& value) {
  Bytes bytes;
  MsgpackWriter(bytes).value(value);
  return bytes;
}

engine::Result<engine::Value> decode_value(std::span<const std::byte> bytes, const ValueLimits& limits) {
  MsgpackTree tree;
  if (const auto filled = tree.fill(bytes, {.bytes = limits.bytes, .depth = limits.depth}); !filled) {
    return filled.error();
  }
  engine::Value value;
  Trouble trouble;
  if (!read(tree.root(), value, trouble)) {
    return corrupt_field("a value", trouble);
  }
  return value;
}

}  // namespace hpsearch::proto
