#include <utility>

#include "daemon/http_request_context.hpp"

namespace hpsearch::daemon {
namespace {

Error not_here(const std::string& digest) {
  return Error{Errc::not_found, "the daemon does not have the context " + digest};
}

void fetch(RequestContext& request_context, Call call) {
  if (request_context.about.contexts == nullptr || !request_context.about.contexts->find(call.digest)) {
    call.reply(failure(not_here(call.digest)));
    return;
  }
  HttpResponse response;
  response.content_type = "application/x-tar";
  response.file = request_context.about.contexts->path(call.digest);
  call.reply(std::move(response));
}

void take(RequestContext& request_context, Call call) {
  if (request_context.about.contexts == nullptr) {
    call.reply(failure(not_here(call.digest)));
    return;
  }
  if (request_context.runtime.storage().intake != Intake::everything) {
    call.reply(no_room(request_context.runtime.storage()));
    return;
  }
  if (call.request.uploaded == nullptr) {
    call.reply(failure(Error{Errc::bad_request, "the body has to be a tar archive, application/x-tar"}));
    return;
  }
  Value shown = Value::Map{{"context", call.digest}, {"bytes", integer(call.request.uploaded->bytes())}};
  request_context.about.contexts->take(
      call.digest, std::move(call.request.uploaded),
      [reply = call.reply, shown = std::move(shown)](const engine::Status& taken) {
        reply(taken ? with(201, shown) : failure(taken.error()));
      });
}

constexpr Route context_table[] = {
    {"GET",
     "/api/v1/contexts/*",
     Role::worker,
     &fetch,
     {"fetch_context", "contexts", "Answers the archive of a context", "", "", 200, "application/x-tar"}},
    {"HEAD",
     "/api/v1/contexts/*",
     Role::worker,
     &fetch,
     {"find_context", "contexts", "Whether the daemon has a context", ""}},
    {"PUT",
     "/api/v1/contexts/*",
     Role::submit,
     &take,
     {"store_context", "contexts", "Stores a context", "StoredContext", "", 201, "", "application/x-tar"}},
};

}  // namespace

std::span<const Route> context_routes() noexcept {
  return context_table;
}

}  // namespace hpsearch::daemon
