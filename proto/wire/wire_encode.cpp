#include "hpsearch/proto/encoding/msgpack_writer.hpp"
#include "hpsearch/proto/wire/wire.hpp"
#include "wire/spell_wire.hpp"

namespace hpsearch::proto {
namespace {

template <class Variant>
Bytes encode_message(const Envelope& envelope, const Variant& message) {
  Bytes frame;
  frame.reserve(256);
  MsgpackWriter out(frame);
  out.list(7);
  out.natural(wire_version);
  out.text(tag_in(message));
  out.natural(envelope.cluster);
  out.natural(envelope.daemon_epoch);
  out.natural(envelope.session_epoch);
  out.natural(envelope.msg_no);
  std::visit([&out](const auto& body) { put(out, body); }, message);
  return frame;
}

}  // namespace

Bytes encode(const Envelope& envelope, const FromWorker& message) {
  return encode_message(envelope, message);
}

Bytes encode(const Envelope& envelope, const FromDaemon& message) {
  return encode_message(envelope, message);
}

const char* name_of(const FromWorker& message) noexcept {
  return tag_in(message);
}

const char* name_of(const FromDaemon& message) noexcept {
  return tag_in(message);
}

}  // namespace hpsearch::proto
