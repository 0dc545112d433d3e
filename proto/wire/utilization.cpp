#include "hpsearch/proto/wire/utilization.hpp"

#include <utility>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::proto {

std::string utilization_text(const std::vector<Utilization>& stretches) {
  std::string text;
  for (const Utilization& stretch : stretches) {
    text += engine::compact_json(encode_value(stretch)) + "\n";
  }
  return text;
}

std::vector<Utilization> utilization_from(std::string_view text) {
  std::vector<Utilization> stretches;
  while (!text.empty() && stretches.size() < most_stretches) {
    const std::size_t end = text.find('\n');
    const engine::Result<engine::Value> value = parse_json(text.substr(0, end));
    engine::Result<Utilization> stretch =
        value ? decode_value<Utilization>(*value) : engine::Result<Utilization>(value.error());
    if (stretch && (stretches.empty() || stretch->at_ms > stretches.back().at_ms)) {
      stretches.push_back(*std::move(stretch));
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return stretches;
}

}  // namespace hpsearch::proto
