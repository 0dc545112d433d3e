#include "daemon/http_answers.hpp"

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/client_api.hpp"

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
    case Errc::unavailable:
      return 503;
    case Errc::version_mismatch:
    case Errc::corrupt:
      return 500;
  }
  return 500;
}

}  // namespace

HttpResponse with(unsigned status, const Value& value) {
  HttpResponse response;
  response.status = status;
  response.body = engine::compact_json(value) + "\n";
  return response;
}

HttpResponse failure(const Error& error) {
  return with(status_of(error.code), proto::to_value(error));
}

HttpResponse failure(const std::string& message, const engine::Problems& problems) {
  return with(400, proto::to_value(Error{Errc::bad_request, message}, problems));
}

HttpResponse refusal(unsigned status, const std::string& message) {
  const char* code = status == 401 ? "unauthorized" : status == 403 ? "forbidden" : "too_many_requests";
  return with(status, Value::Map{{"error", Value::Map{{"code", code}, {"message", message}}}});
}

}  // namespace hpsearch::daemon
