#include "hpsearch/proto/wire.hpp"
#include "msgpack_tree.hpp"
#include "spell_wire.hpp"
#include "versioned.hpp"

namespace hpsearch::proto {
namespace {

using engine::Errc;
using engine::Error;

template <class Variant>
engine::Result<Framed<Variant>> decode_message(std::span<const std::byte> frame) {
  const auto tree = MsgpackTree::read(frame, {.bytes = max_frame_bytes});
  if (!tree) {
    return tree.error();
  }
  const auto items = versioned_items(tree->root(), "a message", oldest_wire_version, wire_version, 7);
  if (!items) {
    return items.error();
  }
  Framed<Variant> framed;
  Envelope& envelope = framed.envelope;
  std::string type;
  Trouble trouble;
  const bool readable = read((*items)[1], type, trouble) && read((*items)[2], envelope.cluster, trouble) &&
                        read((*items)[3], envelope.daemon_epoch, trouble) &&
                        read((*items)[4], envelope.session_epoch, trouble) &&
                        read((*items)[5], envelope.msg_no, trouble);
  if (!readable) {
    return corrupt_field("envelope", trouble);
  }
  const std::optional<bool> done = read_tagged(type, (*items)[6], framed.message, trouble);
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
