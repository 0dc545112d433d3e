#include "daemon/api/searcher_schema.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/engine/config/describe_experiment.hpp"

namespace hpsearch::daemon {

using engine::SearcherKind;
using engine::Value;

namespace {

bool reads(const SearcherKind& kind, std::string_view field) {
  return std::find(kind.fields.begin(), kind.fields.end(), field) != kind.fields.end();
}

}  // namespace

Value searcher_json_schema(const SearcherKind& kind, engine::SearcherRegistry registry) {
  Value::Map properties;
  for (const auto& section : engine::describe_experiment()) {
    if (section.name != "searcher") {
      continue;
    }
    for (const auto& field : section.fields) {
      const bool is_of_some = std::any_of(registry.begin(), registry.end(),
                                          [&](const SearcherKind& one) { return reads(one, field.name); });
      if (is_of_some && !reads(kind, field.name)) {
        continue;
      }
      Value schema = field.schema;
      if (Value::Map* map = schema.as_map()) {
        (*map)["description"] = field.meaning;
        if (!field.default_value.is_null()) {
          (*map)["default"] = field.default_value;
        }
      }
      properties[field.name] = std::move(schema);
    }
  }
  Value::List required{"name", "metric"};
  for (const std::string_view field : kind.required) {
    required.emplace_back(field);
  }
  properties["name"] = Value::Map{{"const", kind.name}};
  return Value::Map{{"$schema", "http://json-schema.org/draft-07/schema#"},
                    {"title", kind.name},
                    {"type", "object"},
                    {"properties", std::move(properties)},
                    {"required", std::move(required)}};
}

}  // namespace hpsearch::daemon
