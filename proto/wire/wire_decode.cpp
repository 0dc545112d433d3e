#include "encoding/versioned.hpp"
#include "hpsearch/proto/encoding/msgpack_tree.hpp"
#include "hpsearch/proto/wire/wire.hpp"
#include "wire/spell_wire.hpp"

namespace hpsearch::proto {
namespace {

using engine::Errc;
using engine::Error;

template <class Variant>
engine::Result<Framed<Variant>> decode_message(std::span<const std::byte> frame) {
  MsgpackTree tree;
  if (const auto filled = tree.fill(frame, {.bytes = max_frame_bytes}); !filled) {
    return filled.error();
  }
  const auto first = after_version(tree.root(), "a message", oldest_wire_version, wire_version, 7);
  if (!first) {
    return first.error();
  }
  MsgpackItem item = *first;
  Framed<Variant> framed;
  Envelope& envelope = framed.envelope;
  std::string type;
  Trouble trouble;
  bool readable = read(item, type, trouble);
  for (std::uint64_t* number :
       {&envelope.cluster, &envelope.daemon_epoch, &envelope.session_epoch, &envelope.msg_no}) {
    item = item.next();
    readable = readable && read(item, *number, trouble);
  }
  if (!readable) {
    return corrupt_field("envelope", trouble);
  }
  const std::optional<bool> done = read_tagged(type, item.next(), framed.message, trouble);
  if (!done) {
    return Error{Errc::corrupt,
                 "a message of unknown type \"" + type.substr(0, type.find('\0')).substr(0, 40) + "\""};
  }
  if (!*done) {
    return corrupt_field(type, trouble);
  }
  return framed;
}

}  // namespace

engine::Result<Framed<FromWorker>> decode_from_worker(std::span<const std::byte> frame) {
  return decode_message<FromWorker>(frame);
}

engine::Result<Framed<FromDaemon>> decode_from_daemon(std::span<const std::byte> frame) {
  return decode_message<FromDaemon>(frame);
}

}  // namespace hpsearch::proto
