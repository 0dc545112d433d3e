#include "hpsearch/proto/wire/version.hpp"

#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {

int version(const Output& output) {
  if (output.json()) {
    output.data(engine::Value::Map{{"version", HPSEARCH_VERSION},
                                   {"wire_version", static_cast<std::int64_t>(proto::wire_version)},
                                   {"store_version", static_cast<std::int64_t>(proto::store_version)}});
  } else {
    output.print(std::string("hpsearch ") + HPSEARCH_VERSION + "\n");
  }
  return 0;
}

}  // namespace hpsearch::cli
