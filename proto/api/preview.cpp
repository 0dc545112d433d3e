#include "hpsearch/proto/api/preview.hpp"

#include <string_view>
#include <vector>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::proto {

using engine::Cardinality;
using engine::Units;

std::string to_json(const engine::Preview& preview) {
  using engine::to_text;
  const auto listed = [](const auto& items, std::string_view before, auto text) {
    std::string out;
    for (const auto& item : items) {
      out += (out.empty() ? "" : ",") + std::string(before) + text(item);
    }
    return out;
  };
  const auto bracket = [&](const engine::BracketPreview& it) {
    return "{\"lengths\": [" +
           listed(it.lengths, "", [](Units length) { return std::to_string(engine::count(length)); }) +
           "], \"trials\": " + to_text(it.trials) + ", \"share\": " + std::to_string(it.share) + "}";
  };
  const auto reach = [&](const engine::BracketPreview& it) {
    return "[" + listed(it.reach, "", [](Cardinality trials) { return to_text(trials); }) + "]";
  };
  const auto final_count = [](const auto& it) {
    return "\"" + std::to_string(engine::count(it.first)) + "\": " + to_text(it.second);
  };
  std::vector<std::string> remarks = preview.warnings;
  for (const std::string& advice : preview.advice) {
    remarks.push_back("advice: " + advice);
  }
  const auto length = [](Cardinality sum) { return sum == engine::past_counting ? "null" : to_text(sum); };
  return "{\n  \"trials\": " + to_text(preview.trials) + ",\n  \"repeats\": " + to_text(preview.repeats) +
         ",\n  \"brackets\": [" + listed(preview.brackets, "\n    ", bracket) +
         "\n  ],\n  \"final_counts\": {" + listed(preview.final_counts, "\n    ", final_count) +
         "\n  },\n  \"total_length\": " + length(preview.total_length) + ",\n  \"expected_reach\": [" +
         listed(preview.brackets, "\n    ", reach) +
         "\n  ],\n  \"expected_length\": " + length(preview.expected_length) +
         ",\n  \"full_length\": " + length(preview.full_length) + ",\n  \"warnings\": [" +
         listed(remarks, "\n    ", [](const std::string& text) { return engine::compact_json(text); }) +
         "\n  ]\n}";
}

}  // namespace hpsearch::proto
