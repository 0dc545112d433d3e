#include <cstddef>
#include <cstdint>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/proto/wire.hpp"

// Whatever the frame: a message or an error. A message sent on reads back and is then sent the same.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpsearch;  // NOLINT(google-build-using-namespace)
  const auto framed = proto::decode_from_daemon(std::as_bytes(std::span(data, size)));
  if (!framed) {
    HPSEARCH_CHECK(!framed.error().message.empty(), "an error says why");
    return 0;
  }
  const proto::Bytes sent = proto::encode(framed->envelope, framed->message);
  const auto again = proto::decode_from_daemon(sent);
  // Reals that came as 4 bytes go on as 8, so a frame near the limit may pass it.
  if (sent.size() <= proto::max_frame_bytes) {
    HPSEARCH_CHECK(again.has_value(), "what we send is read");
    HPSEARCH_CHECK(proto::encode(again->envelope, again->message) == sent, "and it is the same");
  }
  return 0;
}
