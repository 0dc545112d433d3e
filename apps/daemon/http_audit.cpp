#include "daemon/http_audit.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "daemon/audit_log.hpp"

namespace hpsearch::daemon {
namespace {

/// What clients that run trials do thousands of times a second; the event log has it.
constexpr std::array<std::string_view, 3> work_of_clients{"ask_trials", "report_metrics", "tell_trial"};

bool is_work_of_clients(const Route* route) {
  return route != nullptr &&
         std::find(work_of_clients.begin(), work_of_clients.end(), route->about.id) != work_of_clients.end();
}

bool is_change(const Call& call) {
  return call.request.method != "GET" && call.request.method != "HEAD" && call.caller.role != Role::worker;
}

bool is_refusal(unsigned status) {
  return status == 401 || status == 403;
}

AuditEntry entry_of(const Call& call, engine::Instant now) {
  return {.at = now.micros(),
          .request = call.request.id,
          .channel = call.request.peer.uid       ? "socket"
                     : call.request.is_encrypted ? "tls"
                                                 : "tcp",
          .from = call.request.peer.name,
          .name = call.caller.name,
          .token = call.caller.token_id,
          .role = std::string(name_of(call.caller.role)),
          .method = call.request.method,
          .path = call.request.path,
          .status = 0};
}

HttpResponse not_recorded(const std::string& why) {
  return failure(507, Error{Errc::unavailable,
                            "the audit log: " + why + ". Changes are refused until it can be written"});
}

void record(AuditLog& log, AuditEntry entry, const net::HttpServer::Reply& reply, HttpResponse response) {
  entry.status = response.status;
  log.record(std::move(entry), [reply, response = std::make_shared<HttpResponse>(std::move(response))](
                                   const engine::Status& written) {
    reply(written ? std::move(*response) : not_recorded(written.error().message));
  });
}

}  // namespace

bool audited(RequestContext& context, Call& call, const Route* route) {
  AuditLog* log = context.about.audit;
  if (log == nullptr) {
    return true;
  }
  const engine::Instant now = context.runtime.now();
  const bool changes = is_change(call) && !is_work_of_clients(route);
  if (const std::string why = changes ? log->why_not(now) : ""; !why.empty()) {
    call.reply(not_recorded(why));
    return false;
  }
  call.reply = [log, changes, reply = std::move(call.reply),
                entry = entry_of(call, now)](HttpResponse response) {
    if (changes || is_refusal(response.status)) {
      record(*log, entry, reply, std::move(response));
    } else {
      reply(std::move(response));
    }
  };
  return true;
}

void note_refusal(RequestContext& context, const Call& call, unsigned status) {
  if (context.about.audit != nullptr && is_refusal(status)) {
    AuditEntry entry = entry_of(call, context.runtime.now());
    entry.status = status;
    context.about.audit->record(std::move(entry), [](const engine::Status&) {});
  }
}

}  // namespace hpsearch::daemon
