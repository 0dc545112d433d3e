#include "daemon/api/openapi.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/api/schema.hpp"
#include "daemon/http/http_request_context.hpp"
#include "hpsearch/io/http/http_problem.hpp"

namespace hpsearch::daemon {

using engine::Value;

namespace {

constexpr std::array<std::string_view, 3> attempt_names{"experiment", "trial", "attempt"};

Value text_schema(std::string_view pattern) {
  return Value::Map{{"pattern", pattern}, {"type", "string"}};
}

Value number_schema() {
  // Handlers take all that 64 bits hold; JSON readers do not.
  return Value::Map{{"maximum", std::int64_t{9'007'199'254'740'991}}, {"minimum", 0}, {"type", "integer"}};
}

/// A route's path as OpenAPI writes it, and what its placeholders stand for.
struct DescribedPath {
  std::string text;
  Value::List parameters;

  void add(const std::string& name, Value schema) {
    text += "/{" + name + "}";
    parameters.emplace_back(
        Value::Map{{"in", "path"}, {"name", name}, {"required", true}, {"schema", std::move(schema)}});
  }
};

/// #: the thing that the segment before it names in the plural; several: the parts of an attempt's name.
DescribedPath path_of(std::string_view pattern) {
  DescribedPath path;
  std::string_view before;
  std::size_t in_row = 0;
  while (!pattern.empty()) {
    const std::string_view part = pattern.substr(0, pattern.find('/', 1));
    pattern.remove_prefix(part.size());
    if (part == "/#") {
      const bool is_row = in_row > 0 || pattern.starts_with("/#");
      path.add(std::string(is_row ? attempt_names.at(in_row) : before.substr(0, before.size() - 1)),
               number_schema());
      ++in_row;
    } else if (part == "/*") {
      path.add("digest", text_schema("^[0-9a-f]{64}$"));
    } else if (part == "/%") {
      path.add(std::string(before.substr(0, before.size() - 1)), text_schema("^[A-Za-z0-9_.-]{1,100}$"));
    } else if (part == "/$") {
      path.add("token", text_schema("^[a-z2-7]{8}$"));
    } else {
      path.text += part;
      before = part.substr(1);
      in_row = 0;
    }
  }
  return path;
}

/// `types`: separated by ", "; "" = application/json.
Value content(std::string_view types, std::string_view schema) {
  const Value::Map what{{"schema", schema.empty() ? Value(Value::Map{}) : json_schema_of(schema)}};
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

Value responses_of(const Route& route) {
  Value::Map success{{"description", route.about.summary}};
  if (route.method != "HEAD" && route.about.success != 204) {
    success["content"] = content(route.about.answer_type, route.about.answer);
  }
  Value::Map responses{{"default", Value::Map{{"$ref", "#/components/responses/Problem"}}}};
  if (route.about.not_yet != 0) {
    responses[std::to_string(route.about.not_yet)] = success;
  }
  responses[std::to_string(route.about.success)] = std::move(success);
  return responses;
}

Value operation_of(const Route& route, const DescribedPath& path) {
  Value::List parameters = path.parameters;
  for (Value& parameter : described(route.query)) {
    parameters.push_back(std::move(parameter));
  }
  if (route.method != "GET" && route.method != "HEAD" && (route.keeps_answer || route.about.success == 201)) {
    parameters.emplace_back(Value::Map{{"$ref", "#/components/parameters/IdempotencyKey"}});
  }
  Value::Map operation{{"operationId", route.about.id},
                       {"responses", responses_of(route)},
                       {"summary", route.about.summary},
                       {"tags", Value::List{route.about.tag}},
                       {"x-least-role", name_of(route.least)}};
  if (route.least == Role::anyone) {
    operation["security"] = Value::List{};
  }
  if (!parameters.empty()) {
    operation["parameters"] = std::move(parameters);
  }
  if (!route.about.body.empty() || !route.about.body_type.empty()) {
    Value accepted = content(route.about.body_type, route.about.body);
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
  for (const auto& table : all_routes()) {
    for (const Route& route : table) {
      if (route.about.id.empty()) {
        continue;
      }
      const DescribedPath path = path_of(route.path);
      Value& item = paths[path.text];
      if (item.is_null()) {
        item = Value::Map{};
      }
      (*item.as_map())[in_lower_case(route.method)] = operation_of(route, path);
    }
  }
  Value::Map schemas = shared_json_schemas();
  for (const auto& table : all_schemas()) {
    for (const Schema& schema : table) {
      schemas[schema.name] = json_schema_of(schema);
    }
  }
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
           {"responses",
            Value::Map{{"Problem", Value::Map{{"description", "Why the request failed."},
                                              {"content", content(net::problem_type, "Problem")}}}}},
           {"schemas", std::move(schemas)},
           {"securitySchemes", Value::Map{{"token", Value::Map{{"scheme", "bearer"}, {"type", "http"}}}}}}}};
}

}  // namespace hpsearch::daemon
