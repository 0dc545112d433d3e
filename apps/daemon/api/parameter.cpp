#include "daemon/api/parameter.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::daemon {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;
using engine::Value;

namespace {

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text.append(i == 0 ? "" : i + 1 == words.size() ? " or " : ", ").append(words[i]);
  }
  return text;
}

Status check(const QueryParameter& parameter, std::string_view given) {
  const std::string is = std::string(parameter.name) + " is \"" + std::string(given) + "\"; ";
  switch (parameter.kind) {
    case QueryParameter::Kind::text:
      return Done{};
    case QueryParameter::Kind::choice:
      if (std::find(parameter.choices.begin(), parameter.choices.end(), given) == parameter.choices.end()) {
        return Error{Errc::bad_request, is + "it has to be " + joined(parameter.choices)};
      }
      return Done{};
    case QueryParameter::Kind::whole_number:
      break;
  }
  const auto whole = engine::number_in<std::uint64_t>(given);
  if (!whole) {
    return Error{Errc::bad_request, is + "it has to be a whole number"};
  }
  const std::string bare = std::string(parameter.name) + " is " + std::string(given) + "; it must be at ";
  const std::uint64_t number = *whole;
  if (number < parameter.least) {
    return Error{Errc::bad_request, bare + "least " + std::to_string(parameter.least)};
  }
  if (number > parameter.most) {
    return Error{Errc::bad_request, bare + "most " + std::to_string(parameter.most)};
  }
  return Done{};
}

Value schema_of(const QueryParameter& parameter) {
  switch (parameter.kind) {
    case QueryParameter::Kind::text:
      break;
    case QueryParameter::Kind::choice: {
      Value::List choices;
      for (const std::string_view choice : parameter.choices) {
        choices.emplace_back(choice);
      }
      return Value::Map{{"enum", std::move(choices)}, {"type", "string"}};
    }
    case QueryParameter::Kind::whole_number: {
      Value::Map schema{{"minimum", static_cast<std::int64_t>(parameter.least)}, {"type", "integer"}};
      if (parameter.most <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        schema["maximum"] = static_cast<std::int64_t>(parameter.most);
      }
      return schema;
    }
  }
  return Value::Map{{"type", "string"}};
}

}  // namespace

engine::Problems unknown_parameters(std::span<const QueryParameter> declared,
                                    const net::HttpRequest& request) {
  std::vector<std::string_view> names;
  for (const QueryParameter& parameter : declared) {
    names.push_back(parameter.name);
  }
  engine::Problems problems;
  for (const auto& [name, value] : request.query) {
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      continue;
    }
    std::string allowed(engine::nearest(name, names));
    if (allowed.empty()) {
      for (const std::string_view known : names) {
        allowed.append(allowed.empty() ? "" : ", ").append(known);
      }
    }
    problems.push_back({name, "is not known", allowed.empty() ? "nothing in the query" : allowed});
  }
  return problems;
}

Status check_parameters(std::span<const QueryParameter> declared, const net::HttpRequest& request) {
  for (const QueryParameter& parameter : declared) {
    const std::string_view given = request.query_or(parameter.name, {});
    if (given.empty()) {
      continue;
    }
    if (Status checked = check(parameter, given); !checked) {
      return checked;
    }
  }
  return Done{};
}

Value::List described(std::span<const QueryParameter> declared) {
  Value::List list;
  for (const QueryParameter& parameter : declared) {
    list.emplace_back(Value::Map{{"description", parameter.about},
                                 {"in", "query"},
                                 {"name", parameter.name},
                                 {"schema", schema_of(parameter)}});
  }
  return list;
}

}  // namespace hpsearch::daemon
