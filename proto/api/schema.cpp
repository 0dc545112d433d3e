#include "hpsearch/proto/api/schema.hpp"

#include <utility>

#include "api/struct_fields.hpp"
#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::api {

using engine::Value;

namespace json_schema {

Value of_type(std::string_view type) {
  return Value::Map{{"type", type}};
}

Value whole_number() {
  return Value::Map{{"minimum", 0}, {"type", "integer"}};
}

Value or_null(Value schema) {
  Value::Map& map = *schema.as_map();
  if (map.contains("$ref")) {
    return Value::Map{{"anyOf", Value::List{std::move(schema), of_type("null")}}};
  }
  if (Value* type = map.find("type")) {
    *type = Value::List{std::move(*type), "null"};
  }
  if (Value* words = map.find("enum")) {
    words->as_list()->emplace_back(nullptr);
  }
  return schema;
}

Value one_of(const std::vector<std::string_view>& words) {
  return Value::Map{{"enum", Value::List(words.begin(), words.end())}, {"type", "string"}};
}

Value reference_to(std::string_view name) {
  return Value::Map{{"$ref", "#/components/schemas/" + std::string(name)}};
}

Value::Map shared() {
  return {
      {"Count",
       Value::Map{
           {"description", "A whole number from 0; text where it is above 9223372036854775807."},
           {"anyOf", Value::List{whole_number(), Value::Map{{"pattern", "^[0-9]+$"}, {"type", "string"}}}}}},
      {"Metric",
       Value::Map{{"description", "A value of a metric; one that is not finite is a class."},
                  {"anyOf", Value::List{of_type("number"),
                                        Value::Map{{"properties",
                                                    Value::Map{{"class", one_of({"nan", "+inf", "-inf"})}}},
                                                   {"required", Value::List{"class"}},
                                                   {"type", "object"}}}}}}};
}

Value describe(const StructFields& fields, Value::Map& named) {
  const Schema& schema = fields.schema();
  if (!named.contains(schema.name)) {
    named[schema.name] = Value();  // Schemas may refer to each other.
    Value::Map properties;
    Value::List required;
    for (const StructFields::Field& field : fields.list()) {
      HPSEARCH_CHECK(!properties.contains(field.key), "a struct lists a field once");
      Value property = field.schema(named);
      (*property.as_map())["description"] = field.about;
      properties[field.key] = std::move(property);
      if (field.is_empty == nullptr) {
        required.emplace_back(field.key);
      }
    }
    Value::Map object{
        {"description", schema.about}, {"properties", std::move(properties)}, {"type", "object"}};
    if (!required.empty()) {
      object["required"] = std::move(required);
    }
    if (schema.kind == Schema::Kind::body) {
      object["additionalProperties"] = false;
    }
    named[schema.name] = std::move(object);
  }
  return reference_to(schema.name);
}

}  // namespace json_schema

}  // namespace hpsearch::api
