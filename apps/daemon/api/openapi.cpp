#include "daemon/api/openapi.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/http/http_request_context.hpp"
#include "daemon/http/route_path.hpp"
#include "hpsearch/io/http/http_problem.hpp"
#include "hpsearch/proto/api/daemon.hpp"
#include "hpsearch/proto/api/schema.hpp"

namespace hpsearch::daemon {

using engine::Value;

namespace {

Value text_schema(std::string_view pattern) {
  return Value::Map{{"pattern", pattern}, {"type", "string"}};
}

Value number_schema() {
  // Handlers accept all 64 bits; many JSON readers do not.
  return Value::Map{{"maximum", std::int64_t{9'007'199'254'740'991}}, {"minimum", 0}, {"type", "integer"}};
}

Value schema_of(Placeholder placeholder) {
  switch (placeholder) {
    case Placeholder::digest:
      return text_schema("^[0-9a-f]{64}$");
    case Placeholder::token_id:
      return text_schema("^[a-z2-7]{8}$");
    case Placeholder::name:
      return text_schema("^[A-Za-z0-9_.-]{1,100}$");
    case Placeholder::none:
    case Placeholder::number:
      break;
  }
  return number_schema();
}

/// OpenAPI requires that each placeholder of a path is declared as a parameter.
Value::List path_parameters(std::string_view path) {
  Value::List parameters;
  while (!path.empty()) {
    const std::string_view segment = take_segment(path);
    if (const Placeholder placeholder = placeholder_in(segment); placeholder != Placeholder::none) {
      parameters.emplace_back(Value::Map{{"in", "path"},
                                         {"name", std::string(placeholder_name(segment))},
                                         {"required", true},
                                         {"schema", schema_of(placeholder)}});
    }
  }
  return parameters;
}

/// `types`: separated by ", "; "" = application/json.
Value content(std::string_view types, JsonSchema schema, Value::Map& schemas) {
  const Value::Map what{{"schema", schema == nullptr ? Value(Value::Map{}) : schema(schemas)}};
  if (types.empty()) {
    return Value::Map{{"application/json", what}};
  }
  Value::Map by_type;
  for (std::size_t begin = 0; begin < types.size();) {
    const std::size_t end = std::min(types.find(", ", begin), types.size());
    by_type[std::string(types.substr(begin, end - begin))] = what;
    begin = end + 2;
  }
  return by_type;
}

Value responses_of(const Route& route, Value::Map& schemas) {
  Value::Map success{{"description", route.about.summary}};
  if (route.method != "HEAD" && route.about.success != 204) {
    success["content"] = content(route.about.answer_type, route.about.answer, schemas);
  }
  Value::Map responses{{"default", Value::Map{{"$ref", "#/components/responses/Problem"}}}};
  if (route.about.not_yet != 0) {
    responses[std::to_string(route.about.not_yet)] = success;
  }
  responses[std::to_string(route.about.success)] = std::move(success);
  return responses;
}

Value operation_of(const Route& route, Value::Map& schemas) {
  Value::List parameters = path_parameters(route.path);
  for (Value& parameter : described(route.query)) {
    parameters.push_back(std::move(parameter));
  }
  if (route.method != "GET" && route.method != "HEAD" && (route.keeps_answer || route.about.success == 201)) {
    parameters.emplace_back(Value::Map{{"$ref", "#/components/parameters/IdempotencyKey"}});
  }
  Value::Map operation{{"operationId", route.about.id},
                       {"responses", responses_of(route, schemas)},
                       {"summary", route.about.summary},
                       {"tags", Value::List{route.about.tag}},
                       {"x-least-role", name_of(route.least)}};
  if (route.least == Role::anyone) {
    operation["security"] = Value::List{};
  }
  if (!parameters.empty()) {
    operation["parameters"] = std::move(parameters);
  }
  if (route.about.body != nullptr || !route.about.body_type.empty()) {
    Value accepted = content(route.about.body_type, route.about.body, schemas);
    if (route.about.takes_yaml) {
      (*accepted.as_map())[yaml_type] = Value::Map{{"schema", Value::Map{{"type", "string"}}}};
    }
    operation["requestBody"] = Value::Map{{"content", std::move(accepted)}};
  }
  return operation;
}

std::string in_lower_case(std::string_view method) {
  std::string text;
  for (const char letter : method) {
    text += static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

Value key_parameter() {
  return Value::Map{{"description",
                     "The same request with the same key again is not carried out; it gets the same answer."},
                    {"in", "header"},
                    {"name", "Idempotency-Key"},
                    {"schema", Value::Map{{"maxLength", 200}, {"pattern", "^[ -~]*$"}, {"type", "string"}}}};
}

}  // namespace

Value api_description() {
  Value::Map paths;
  Value::Map schemas = api::json_schema::shared();
  for (const auto& table : all_routes()) {
    for (const Route& route : table) {
      if (route.about.id.empty()) {
        continue;
      }
      Value& item = paths[std::string(route.path)];
      if (item.is_null()) {
        item = Value::Map{};
      }
      (*item.as_map())[in_lower_case(route.method)] = operation_of(route, schemas);
    }
  }
  Value problem = content(net::problem_type, api::schema_of<api::Problem>, schemas);
  return Value::Map{
      {"openapi", "3.1.0"},
      {"info", Value::Map{{"title", "hpsearch"},
                          {"version", "v1"},
                          {"description",
                           "Times are seconds since the epoch, durations are seconds. Answers may gain "
                           "members; unknown parameters and unknown members of bodies are refused."}}},
      {"servers", Value::List{Value::Map{{"url", "../../"}}}},
      {"security", Value::List{Value::Map{{"token", Value::List{}}}}},
      {"paths", std::move(paths)},
      {"components",
       Value::Map{
           {"parameters", Value::Map{{"IdempotencyKey", key_parameter()}}},
           {"responses", Value::Map{{"Problem", Value::Map{{"description", "Why the request failed."},
                                                           {"content", std::move(problem)}}}}},
           {"schemas", std::move(schemas)},
           {"securitySchemes", Value::Map{{"token", Value::Map{{"scheme", "bearer"}, {"type", "http"}}}}}}}};
}

}  // namespace hpsearch::daemon
