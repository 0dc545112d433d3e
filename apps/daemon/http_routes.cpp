#include "daemon/http_routes.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <variant>

#include "daemon/http_request_context.hpp"
#include "daemon/pages/pages.hpp"
#include "daemon/past_states.hpp"
#include "hpsearch/context/sha256.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/client_api.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using net::HttpRequest;

/// Whether the path of `call` is of that pattern; then it has what the placeholders stand for.
bool match(std::string_view pattern, Call& call) {
  if (pattern == page_paths) {
    return Pages::is_page(call.request.path);
  }
  std::string_view path = call.request.path;
  call.numbers.clear();
  call.digest.clear();
  call.token_id.clear();
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
    } else if (wanted == "/$") {
      call.token_id = given.substr(1);
      if (!is_token_id(call.token_id)) {
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

net::HttpResponse not_allowed(const Caller& caller, const Route& route) {
  return refusal(403, caller.name + " is " + std::string(name_of(caller.role)) + "; " +
                          std::string(route.method) + " on this path needs " +
                          std::string(name_of(route.least)));
}

/// Finds the route of the call and whether its caller may use it; otherwise what he is answered.
std::variant<const Route*, net::HttpResponse> find_route(RequestContext& context, Call& call) {
  std::variant<Caller, net::HttpResponse> caller =
      context.about.authentication->caller_of(call.request, context.runtime.now());
  if (auto* refused = std::get_if<net::HttpResponse>(&caller)) {
    return std::move(*refused);
  }
  call.caller = std::get<Caller>(std::move(caller));
  bool path_known = false;
  for (const auto& table : all_routes()) {
    for (const Route& route : table) {
      if (!match(route.path, call)) {
        continue;
      }
      path_known = true;
      if (route.method != call.request.method) {
        continue;
      }
      if (call.caller.role >= route.least) {
        return &route;
      }
      return call.caller.role == Role::anyone ? token_needed() : not_allowed(call.caller, route);
    }
  }
  if (call.caller.role == Role::anyone) {
    return token_needed();  // Strangers are not told what is there.
  }
  return path_known ? with(405, proto::to_value(Error{Errc::bad_request,
                                                      call.request.method + " is not served on this path"}))
                    : failure(Error{Errc::not_found, "there is nothing at this path"});
}

/// A reply that also counts what it answers.
net::HttpServer::Reply counted(HttpCounts& counts, const Call& call, std::string_view route,
                               std::string_view method) {
  ++counts.in_flight;
  return [&counts, route, method, began = std::chrono::steady_clock::now(),
          reply = call.reply](net::HttpResponse response) {
    --counts.in_flight;
    ++counts.answers[{route, method, response.status / 100}];
    counts.seconds.add(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    if (response.status == 401 || response.status == 403 || response.status == 429) {
      ++counts.denied[response.status];
    }
    reply(std::move(response));
  };
}

void handle(RequestContext& context, HttpRequest request, net::HttpServer::Reply reply) {
  Call call;
  call.request = std::move(request);
  call.reply = std::move(reply);
  std::variant<const Route*, net::HttpResponse> found = find_route(context, call);
  if (auto* refused = std::get_if<net::HttpResponse>(&found)) {
    counted(context.http_counts, call, "", "")(std::move(*refused));
    return;
  }
  const Route& route = *std::get<const Route*>(found);
  call.reply = counted(context.http_counts, call, route.path, route.method);
  const bool checked = route.query.data() != any_query;
  if (const engine::Problems unknown = unknown_parameters(route.query, call.request);
      checked && !unknown.empty()) {
    call.reply(failure("the query is wrong", unknown));
    return;
  }
  if (const engine::Status good = check_parameters(route.query, call.request); !good) {
    call.reply(failure(good.error()));
    return;
  }
  route.handler(context, std::move(call));
}

}  // namespace

std::array<std::span<const Route>, 10> all_routes() noexcept {
  return {daemon_routes(), access_routes(), worker_routes(), experiment_routes(), trial_routes(),
          bulk_routes(),   log_routes(),    file_routes(),   context_routes(),    page_routes()};
}

ServedRoutes http_routes(Runtime& runtime, WorkerSessions& sessions, AboutDaemon about) {
  auto past = std::make_shared<PastStates>(runtime, about.checks);
  auto context =
      std::make_shared<RequestContext>(RequestContext{runtime, sessions, std::move(about), std::move(past)});
  context->streams = std::make_unique<Streams>(
      runtime, context->about.checks->loop(), [context = context.get()](const HttpRequest& request) {
        Call call;
        call.request = request;
        return std::holds_alternative<const Route*>(find_route(*context, call));
      });
  return {[context](HttpRequest request, net::HttpServer::Reply reply) {
            handle(*context, std::move(request), std::move(reply));
          },
          [context](const HttpRequest& head) -> std::optional<net::HttpResponse> {
            Call call;
            call.request = head;
            auto found = find_route(*context, call);
            auto* refused = std::get_if<net::HttpResponse>(&found);
            return refused == nullptr ? std::nullopt : std::optional(std::move(*refused));
          },
          [context] { context->streams->open.end(); }};
}

}  // namespace hpsearch::daemon
