#include "daemon/http/http_repeats.hpp"

#include <utility>

namespace hpsearch::daemon {

bool is_to_be_carried_out(RequestContext& context, const Route& route, Call& call) {
  if (route.method == "GET" || route.method == "HEAD" || !route.keeps_answer) {
    return true;
  }
  auto name = AnsweredRequests::name_of(key_owner(call.caller), call.request);
  if (!name) {
    call.reply(failure(name.error()));
    return false;
  }
  if (!*name) {
    return true;
  }
  using Known = AnsweredRequests::Known;
  AnsweredRequests& requests = context.runtime.requests();
  const Known known = requests.look_up(**name, context.runtime.now());
  if (known == Known::answered) {
    net::HttpResponse answer = requests.answer_to(**name);
    answer.headers.emplace_back("Idempotent-Replay", "true");
    call.reply(std::move(answer));
    return false;
  }
  if (known == Known::running) {
    call.reply(failure(Error{Errc::wrong_state,
                             "a request with this Idempotency-Key is not answered yet; try again later"}));
    return false;
  }
  if (known == Known::forgotten) {
    call.reply(failure(Error{Errc::wrong_state,
                             "the request with this Idempotency-Key was carried out; its answer is not kept "
                             "any more. A new key carries it out again"}));
    return false;
  }
  if (known == Known::other_request) {
    call.reply(failure(Error{Errc::conflict, "this Idempotency-Key was used for another request"}));
    return false;
  }
  requests.begin(**name, context.runtime.now());
  call.is_done = known == Known::done;
  call.name = *name;
  call.reply = [&requests, name = **name, is_done = call.is_done,
                reply = std::move(call.reply)](net::HttpResponse response) {
    requests.end(name, response);
    if (is_done) {
      response.headers.emplace_back("Idempotent-Replay", "true");
    }
    reply(std::move(response));
  };
  return true;
}

}  // namespace hpsearch::daemon
