#include "daemon/api/schema.hpp"

#include <string>
#include <utility>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::daemon {

using engine::Value;

namespace {

Value reference_to(std::string_view name) {
  return Value::Map{{"$ref", "#/components/schemas/" + std::string(name)}};
}

Value one_of(std::string_view words) {
  Value::List list;
  while (!words.empty()) {
    const std::size_t end = words.find('|');
    list.emplace_back(words.substr(0, end));
    words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  }
  return Value::Map{{"enum", std::move(list)}, {"type", "string"}};
}

Value or_null(Value schema) {
  Value::Map& map = *schema.as_map();
  if (map.contains("$ref")) {
    return Value::Map{{"anyOf", Value::List{std::move(schema), Value::Map{{"type", "null"}}}}};
  }
  if (Value* type = map.find("type")) {
    *type = Value::List{std::move(*type), "null"};
  }
  if (Value* words = map.find("enum")) {
    words->as_list()->emplace_back(nullptr);
  }
  return schema;
}

}  // namespace

Value json_schema_of(std::string_view type) {
  HPSEARCH_CHECK(!type.empty(), "a field has a type");
  if (type.back() == '?') {
    return or_null(json_schema_of(type.substr(0, type.size() - 1)));
  }
  if (type.front() == '[') {
    return Value::Map{{"items", json_schema_of(type.substr(1, type.size() - 2))}, {"type", "array"}};
  }
  if (type.front() == '{') {
    return Value::Map{{"additionalProperties", json_schema_of(type.substr(1, type.size() - 2))},
                      {"type", "object"}};
  }
  if (type.find('|') != std::string_view::npos) {
    return one_of(type);
  }
  if (type == "text") {
    return Value::Map{{"type", "string"}};
  }
  if (type == "integer") {
    return Value::Map{{"minimum", 0}, {"type", "integer"}};
  }
  if (type == "number") {
    return Value::Map{{"type", "number"}};
  }
  if (type == "flag") {
    return Value::Map{{"type", "boolean"}};
  }
  if (type == "map") {
    return Value::Map{{"type", "object"}};
  }
  if (type == "any") {
    return Value::Map{};
  }
  if (type == "count" || type == "metric") {
    return reference_to(type == "count" ? "Count" : "Metric");
  }
  HPSEARCH_CHECK(type.front() >= 'A' && type.front() <= 'Z',
                 "a field's type is a known word or a schema's name");
  return reference_to(type);
}

Value json_schema_of(const Schema& schema) {
  Value::Map properties;
  Value::List required;
  for (const Field& field : schema.fields) {
    const bool optional = field.name.ends_with('?');
    const std::string_view name = field.name.substr(0, field.name.size() - (optional ? 1 : 0));
    Value described = json_schema_of(field.type);
    if (!field.about.empty()) {
      (*described.as_map())["description"] = field.about;
    }
    properties[name] = std::move(described);
    if (!optional) {
      required.emplace_back(name);
    }
  }
  Value::Map object{{"properties", std::move(properties)}, {"type", "object"}};
  if (!required.empty()) {
    object["required"] = std::move(required);
  }
  if (schema.kind == Schema::Kind::body) {
    object["additionalProperties"] = false;
  }
  if (!schema.part_of.empty()) {
    object = Value::Map{{"allOf", Value::List{reference_to(schema.part_of), std::move(object)}}};
  }
  object["description"] = schema.about;
  return object;
}

Value::Map shared_json_schemas() {
  return {{"Count",
           Value::Map{{"description", "A whole number from 0; text where it is above 9223372036854775807."},
                      {"anyOf", Value::List{json_schema_of("integer"),
                                            Value::Map{{"pattern", "^[0-9]+$"}, {"type", "string"}}}}}},
          {"Metric",
           Value::Map{{"description", "A value of a metric; one that is not finite is a class."},
                      {"anyOf",
                       Value::List{json_schema_of("number"),
                                   Value::Map{{"properties", Value::Map{{"class", one_of("nan|+inf|-inf")}}},
                                              {"required", Value::List{"class"}},
                                              {"type", "object"}}}}}}};
}

std::array<std::span<const Schema>, 8> all_schemas() noexcept {
  return {access_schemas(),     ask_schemas(),  bulk_schemas(),  daemon_schemas(),
          experiment_schemas(), file_schemas(), trial_schemas(), worker_schemas()};
}

}  // namespace hpsearch::daemon
