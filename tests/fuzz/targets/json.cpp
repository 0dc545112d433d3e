#include "hpsearch/proto/encoding/json.hpp"

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"

// A JSON text is a value or an error. A value that is written can be read, and is then written the same.

namespace hpsearch::fuzz {
namespace {

void run_json(std::string_view bytes) {
  const auto value = proto::parse_json(bytes);
  if (!value) {
    HPSEARCH_CHECK(!value.error().message.empty(), "an error has a reason");
    return;
  }
  const std::string written = engine::compact_json(*value);
  for (const std::string& again : {written, proto::pretty_json(*value)}) {
    const auto read = proto::parse_json(again, {.bytes = again.size()});
    HPSEARCH_CHECK(read.has_value(), "what is written can be read");
    HPSEARCH_CHECK(engine::compact_json(*read) == written, "and it is the same");
  }
}

Seeds json_seeds() {
  return files_in("tests/fuzz/corpus/json");
}

const Registered json_target({"json", run_json, json_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
