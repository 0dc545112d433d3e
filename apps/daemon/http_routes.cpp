#include "daemon/http_routes.hpp"

#include <memory>
#include <utility>

#include "daemon/http_request_context.hpp"
#include "hpsearch/context/sha256.hpp"
#include "hpsearch/proto/client_api.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using net::HttpRequest;

/// Whether the path of `call` is of that pattern; then it has what the placeholders stand for.
bool match(std::string_view pattern, Call& call) {
  std::string_view path = call.request.path;
  call.numbers.clear();
  while (!pattern.empty() && !path.empty()) {
    const std::string_view wanted = pattern.substr(0, pattern.find('/', 1));
    const std::string_view given = path.substr(0, path.find('/', 1));
    if (wanted == "/#") {
      const auto number = read_number(given.substr(1));
      if (!number) {
        return false;
      }
      call.numbers.push_back(*number);
    } else if (wanted == "/*") {
      call.digest = given.substr(1);
      if (!context::is_sha256(call.digest)) {
        return false;
      }
    } else if (wanted != given) {
      return false;
    }
    pattern.remove_prefix(wanted.size());
    path.remove_prefix(given.size());
  }
  return pattern.empty() && path.empty();
}

void handle(RequestContext& context, HttpRequest request, net::HttpServer::Reply reply) {
  Call call{std::move(request), {}, {}, std::move(reply)};
  bool path_known = false;
  for (const auto& table :
       {daemon_routes(), worker_routes(), experiment_routes(), trial_routes(), context_routes()}) {
    for (const Route& route : table) {
      if (!match(route.path, call)) {
        continue;
      }
      path_known = true;
      if (route.method == call.request.method) {
        route.handler(context, std::move(call));
        return;
      }
    }
  }
  if (path_known) {
    call.reply(with(
        405, proto::to_value(Error{Errc::bad_request, call.request.method + " is not served on this path"})));
  } else {
    call.reply(failure(Error{Errc::not_found, "there is nothing at this path"}));
  }
}

}  // namespace

net::HttpServer::Handler http_routes(Runtime& runtime, WorkerSessions& sessions, AboutDaemon about) {
  auto context = std::make_shared<RequestContext>(RequestContext{runtime, sessions, std::move(about)});
  return [context](HttpRequest request, net::HttpServer::Reply reply) {
    handle(*context, std::move(request), std::move(reply));
  };
}

}  // namespace hpsearch::daemon
