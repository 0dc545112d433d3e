#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/proto/wire/wire.hpp"

// A frame is a message or an error. A message that is sent on can be read, and is then sent the same.

namespace hpsearch::fuzz {
namespace {

void run_wire_from_worker(std::string_view bytes) {
  const auto framed = proto::decode_from_worker(bytes_of(bytes));
  if (!framed) {
    HPSEARCH_CHECK(!framed.error().message.empty(), "an error has a reason");
    return;
  }
  const proto::Bytes sent = proto::encode(framed->envelope, framed->message);
  // Reals that came as 4 bytes are sent as 8, so a frame near the limit may exceed it.
  if (sent.size() <= proto::max_frame_bytes) {
    const auto again = proto::decode_from_worker(sent);
    HPSEARCH_CHECK(again.has_value(), "what is sent can be read");
    HPSEARCH_CHECK(proto::encode(again->envelope, again->message) == sent, "and it is the same");
  }
}

Seeds wire_from_worker_seeds() {
  return files_in("tests/golden/wire_v1/from_worker");
}

const Registered wire_from_worker_target({"wire_from_worker", run_wire_from_worker, wire_from_worker_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
