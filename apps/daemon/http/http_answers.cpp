#include "daemon/http/http_answers.hpp"

#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/http/http_problem.hpp"
#include "hpsearch/proto/api/daemon.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {

using engine::Errc;
using engine::Error;
using engine::Value;
using net::HttpResponse;

namespace {

unsigned status_of(Errc code) {
  switch (code) {
    case Errc::bad_request:
      return 400;
    case Errc::not_found:
      return 404;
    case Errc::wrong_state:
      return 409;
    case Errc::conflict:
      return 422;
    case Errc::quota:
      return 429;
    case Errc::unavailable:
      return 503;
    case Errc::version_mismatch:
    case Errc::corrupt:
      return 500;
  }
  return 500;
}

Value::Map error_of(const Error& error, const engine::Problems& problems) {
  return *proto::encode_value(api::error_of(error, problems)).as_map();
}

Value::Map item_of(const engine::Problem& problem, ProblemsIn where) {
  Value::Map item{{"detail", problem.what}};
  if (where == ProblemsIn::query) {
    item["parameter"] = problem.path;
  } else {
    item["pointer"] = json_pointer(problem.path);
    item["path"] = problem.path;
  }
  if (!problem.allowed.empty()) {
    item["allowed"] = problem.allowed;
  }
  return item;
}

}  // namespace

HttpResponse with(unsigned status, const Value& value) {
  HttpResponse response;
  response.status = status;
  response.body = engine::compact_json(value) + "\n";
  return response;
}

std::string json_pointer(std::string_view path) {
  std::string pointer;
  bool begins = true;
  for (const char letter : path) {
    if (letter == '.' || letter == '[') {
      begins = true;
      continue;
    }
    if (letter == ']') {
      continue;
    }
    pointer += begins ? "/" : "";
    begins = false;
    pointer += letter == '~' ? "~0" : letter == '/' ? "~1" : std::string(1, letter);
  }
  return pointer;
}

HttpResponse failure(const Error& error) {
  return failure(status_of(error.code), error);
}

HttpResponse failure(unsigned status, const Error& error) {
  return net::http_problem(status, error_of(error, {}));
}

HttpResponse failure(const std::string& message, const engine::Problems& problems, ProblemsIn where) {
  Value::List items;
  for (const engine::Problem& problem : problems) {
    items.emplace_back(item_of(problem, where));
  }
  return net::http_problem(400, error_of(Error{Errc::bad_request, message}, problems), std::move(items));
}

HttpResponse failure(const std::string& message, const std::vector<yaml::FileProblem>& problems) {
  engine::Problems bare;
  for (const yaml::FileProblem& one : problems) {
    bare.push_back(one.problem);
  }
  return net::http_problem(400, error_of(Error{Errc::bad_request, message}, bare), problem_items(problems));
}

Value::List problem_items(const std::vector<yaml::FileProblem>& problems) {
  Value::List items;
  for (const yaml::FileProblem& one : problems) {
    Value::Map item = item_of(one.problem, ProblemsIn::body);
    if (one.line != 0) {
      item["line"] = static_cast<std::int64_t>(one.line);
    }
    items.emplace_back(std::move(item));
  }
  return items;
}

HttpResponse refusal(unsigned status, const std::string& message) {
  const char* code = status == 401 ? "unauthorized" : status == 403 ? "forbidden" : "too_many_requests";
  return net::http_problem(status, Value::Map{{"code", code}, {"message", message}});
}

}  // namespace hpsearch::daemon
