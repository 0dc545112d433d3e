#include <string>

#include "forged/forged_logs.hpp"
#include "fuzz/target.hpp"
#include "hpsearch/proto/encoding/json.hpp"

// A saved search whose checksums are right is refused with the place, or it goes on: whatever its events say.

namespace hpsearch::fuzz {
namespace {

void run_saved_search(std::string_view bytes) {
  if (bytes.find('\0') != std::string_view::npos) {
    return;  // C has no such text.
  }
  forged::load(bytes);
  forged::Lines lines;
  while (!bytes.empty()) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
    const auto value = proto::parse_json(line, {}, proto::NonFinite::reals);
    if (!value) {
      return;
    }
    lines.push_back(*value);
  }
  forged::replay(lines, 1);
}

Seeds saved_search_seeds() {
  Seeds seeds;
  for (const forged::Lines& log : forged::logs_of_searches(1, 8)) {
    seeds.push_back(forged::text_of(log));
  }
  for (const forged::Lines& log : forged::logs_of_clusters(1, 8)) {
    seeds.push_back(forged::text_of(log));
  }
  return seeds;
}

const Registered saved_search_target({"saved_search", run_saved_search, saved_search_seeds, 300});

}  // namespace
}  // namespace hpsearch::fuzz
