#include "hpsearch/proto/stored.hpp"

#include "msgpack_tree.hpp"
#include "msgpack_writer.hpp"
#include "spell_event.hpp"
#include "value_writer.hpp"
#include "versioned.hpp"

namespace hpsearch::proto {
namespace {

using engine::Errc;
using engine::Error;
using engine::Value;

// The largest event holds an effective config, which was 1 MiB of JSON before its defaults were filled in.
constexpr std::size_t max_event_bytes = 16UL * 1024 * 1024;

}  // namespace

const char* type_of(const engine::EventBody& body) noexcept {
  return tag_in(body);
}

Bytes encode_event(const engine::EventBody& body) {
  Bytes bytes;
  bytes.reserve(192);
  MsgpackWriter out(bytes);
  out.list(3);
  out.natural(store_version);
  out.text(type_of(body));
  std::visit([&out](const auto& event) { put(out, event); }, body);
  return bytes;
}

engine::Result<engine::EventBody> decode_event(std::span<const std::byte> bytes) {
  const auto tree = MsgpackTree::read(bytes, {.bytes = max_event_bytes});
  if (!tree) {
    return tree.error();
  }
  const auto items = versioned_items(tree->root(), "an event", oldest_store_version, store_version, 3);
  if (!items) {
    return items.error();
  }
  std::string type;
  Trouble trouble;
  if (!read((*items)[1], type, trouble)) {
    return corrupt_field("an event's type", trouble);
  }
  engine::EventBody body;
  const std::optional<bool> done = read_tagged(type, (*items)[2], body, trouble);
  if (!done) {  // An event cannot be skipped: what follows builds on it.
    return Error{Errc::version_mismatch,
                 "an event of type \"" + type.substr(0, 40) + "\", which this build does not know"};
  }
  if (!*done) {
    return corrupt_field(type, trouble);
  }
  return body;
}

Value to_value(const engine::Event& event) {
  ValueWriter out;
  std::visit([&out](const auto& body) { put(out, body); }, event.body);
  Value value = out.take();
  Value::Map& fields = *value.as_map();
  fields["lsn"] = count_value(event.lsn.number());
  fields["at"] = static_cast<double>(event.at.micros()) / 1e6;
  fields["type"] = type_of(event.body);
  return value;
}

}  // namespace hpsearch::proto
