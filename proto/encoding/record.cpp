#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::proto {

std::string msgpack_of(const engine::Value& value) {
  Bytes bytes;
  MsgpackWriter(bytes).value(value);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace hpsearch::proto
