#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/proto/events/stored.hpp"

// Stored bytes are an event or an error. An event that is stored again can be read, is stored the same, and
// can be shown.

namespace hpsearch::fuzz {
namespace {

void run_stored_event(std::string_view bytes) {
  const auto body = proto::decode_event(bytes_of(bytes));
  if (!body) {
    HPSEARCH_CHECK(!body.error().message.empty(), "an error has a reason");
    return;
  }
  const proto::Bytes stored = proto::encode_event(*body);
  const auto again = proto::decode_event(stored);
  HPSEARCH_CHECK(again.has_value(), "what is stored can be read");
  HPSEARCH_CHECK(proto::encode_event(*again) == stored, "and it is the same");
  HPSEARCH_CHECK(proto::to_value({engine::Lsn{1}, {}, *body}).as_map() != nullptr,
                 "an event is shown as a map");
}

Seeds stored_event_seeds() {
  return files_in("tests/golden/store_v1");
}

const Registered stored_event_target({"stored_event", run_stored_event, stored_event_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
