#include <cstddef>
#include <cstdint>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/proto/stored.hpp"

// Whatever the bytes: an event or an error. An event stored again reads back, is stored the same, and can be
// shown.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpsearch;  // NOLINT(google-build-using-namespace)
  const auto body = proto::decode_event(std::as_bytes(std::span(data, size)));
  if (!body) {
    HPSEARCH_CHECK(!body.error().message.empty(), "an error says why");
    return 0;
  }
  const proto::Bytes stored = proto::encode_event(*body);
  const auto again = proto::decode_event(stored);
  HPSEARCH_CHECK(again.has_value(), "what we store is read");
  HPSEARCH_CHECK(proto::encode_event(*again) == stored, "and it is the same");
  HPSEARCH_CHECK(proto::to_value({engine::Lsn{1}, {}, *body}).as_map() != nullptr, "people see a map");
  return 0;
}
