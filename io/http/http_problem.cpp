#include "hpsearch/io/http/http_problem.hpp"

#include <string>
#include <utility>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::net {

using engine::Value;

namespace {

// A type of problem is a name, not a page.
constexpr std::string_view types = "https://hpsearch.invalid/problems/";

/// "Wrong state" for "wrong_state".
std::string title_of(std::string_view code) {
  std::string title(code);
  for (char& letter : title) {
    letter = letter == '_' ? ' ' : letter;
  }
  if (!title.empty() && title.front() >= 'a' && title.front() <= 'z') {
    title.front() = static_cast<char>(title.front() - 'a' + 'A');
  }
  return title;
}

std::string text_at(const Value::Map& map, std::string_view key) {
  const Value* value = map.find(key);
  return value != nullptr && value->as_text() != nullptr ? *value->as_text() : std::string();
}

}  // namespace

HttpResponse http_problem(unsigned status, Value::Map error, Value::List errors) {
  const std::string code = text_at(error, "code");
  Value::Map problem{{"type", std::string(types) + code},
                     {"title", title_of(code)},
                     {"status", static_cast<std::int64_t>(status)},
                     {"detail", text_at(error, "message")},
                     {"error", std::move(error)}};
  if (!errors.empty()) {
    problem["errors"] = std::move(errors);
  }
  HttpResponse response;
  response.status = status;
  response.content_type = problem_type;
  response.body = engine::compact_json(Value(std::move(problem))) + "\n";
  return response;
}

}  // namespace hpsearch::net
