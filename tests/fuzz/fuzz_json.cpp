#include <cstddef>
#include <cstdint>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/json.hpp"

// Whatever the text: a value or an error. A value written out reads back and is then written the same.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpsearch;  // NOLINT(google-build-using-namespace)
  const auto value = proto::parse_json({reinterpret_cast<const char*>(data), size});
  if (!value) {
    HPSEARCH_CHECK(!value.error().message.empty(), "an error says why");
    return 0;
  }
  const std::string written = engine::compact_json(*value);
  for (const std::string& again : {written, proto::pretty_json(*value)}) {
    const auto read = proto::parse_json(again, {.bytes = again.size()});
    HPSEARCH_CHECK(read.has_value(), "what we write we read");
    HPSEARCH_CHECK(engine::compact_json(*read) == written, "and it is the same");
  }
  return 0;
}
