#include "daemon/http/http_audit.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "daemon/core/audit_queue.hpp"
#include "hpsearch/engine/experiment/workspace.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::daemon {
namespace {

/// Clients that run trials send these thousands of times a second; the event log has them.
constexpr std::array<std::string_view, 3> work_of_clients{"ask_trials", "report_metrics", "tell_trial"};

bool is_work_of_clients(const Route* route) {
  return route != nullptr &&
         std::find(work_of_clients.begin(), work_of_clients.end(), route->about.id) != work_of_clients.end();
}

/// Without what workers upload: on the Unix socket their role is that of the daemon's user. A sign-in is one
/// when it ends: anyone can begin any number of them.
bool is_change(const Call& call, const Route* route) {
  const bool of_worker =
      call.caller.role == Role::worker || (route != nullptr && route->least == Role::worker);
  const bool only_begins = route != nullptr && route->about.id == "begin_sign_in_at_provider";
  return call.request.method != "GET" && call.request.method != "HEAD" && !of_worker && !only_begins;
}

/// How the answer of a route names what it made.
struct Made {
  std::string_view route;
  std::string_view member;
};
constexpr std::array makers{Made{"create_experiment", "experiment"},
                            Made{"create_workspace", "name"},
                            Made{"create_token", "id"},
                            Made{"create_invite", "id"},
                            Made{"sign_in", "name"},
                            Made{"sign_in_from_provider", "name"}};

/// "experiments/3" for a path; "session", also for the paths below it.
std::string resource_of(std::string_view path) {
  static constexpr std::string_view root = "/api/v1/";
  if (path.starts_with("/api/v1/session/")) {
    return "session";
  }
  if (!path.starts_with(root)) {
    return "";
  }
  path.remove_prefix(root.size());
  const std::size_t slash = path.find('/');
  const std::size_t second = slash == std::string_view::npos ? slash : path.find('/', slash + 1);
  return std::string(path.substr(0, second));
}

std::string workspace_of(const Runtime& runtime, std::uint64_t experiment) {
  const engine::ExperimentId id(experiment);
  if (const engine::ExperimentRecord* record = runtime.engine().find(id)) {
    return std::string(engine::workspace_of(record->config));
  }
  const auto deleted = runtime.engine().deleted().find(id);
  return deleted == runtime.engine().deleted().end() ? "" : deleted->second.workspace;
}

/// Takes the names from the path.
void name_resource(AuditEntry& entry, const Call& call, const Route* route, const Runtime& runtime) {
  entry.resource = resource_of(entry.path);
  if (route != nullptr && route->path.starts_with("/api/v1/experiments/{experiment}") &&
      !call.numbers.empty()) {
    entry.workspace = workspace_of(runtime, call.numbers[0]);
  } else if (route != nullptr && route->path.starts_with("/api/v1/workspaces/{workspace}")) {
    entry.workspace = call.word;
  }
}

/// Takes the names from the answer of a route that made something.
void name_made(AuditEntry& entry, const Route* route, const HttpResponse& response, const Runtime& runtime) {
  const auto maker = std::find_if(makers.begin(), makers.end(), [route](const Made& one) {
    return route != nullptr && one.route == route->about.id;
  });
  if (maker == makers.end() || response.status / 100 != 2) {
    return;
  }
  const auto answer = proto::parse_json(response.body);
  const engine::Value* name =
      answer && answer->as_map() != nullptr ? answer->as_map()->find(maker->member) : nullptr;
  if (name == nullptr) {
    return;
  }
  if (const std::int64_t* number = name->as_integer()) {
    entry.resource += "/" + std::to_string(*number);
    entry.workspace = workspace_of(runtime, static_cast<std::uint64_t>(*number));
  } else if (name->as_text() != nullptr) {
    entry.resource += "/" + *name->as_text();
    entry.workspace = maker->route == "create_workspace" ? *name->as_text() : "";
  }
}

/// The caller was not admitted, or sent too many requests.
bool is_refusal(unsigned status) {
  return status == 401 || status == 403 || status == 429;
}

/// For a call that is a change: whether its caller may make it. Requests of unknown callers count only if
/// they have signed in.
bool was_let_through(bool is_known, const Route* route, unsigned status) {
  return route != nullptr && !is_refusal(status) && (is_known || status / 100 == 2);
}

AuditEntry entry_of(const Call& call, engine::Instant now) {
  return cut_to_size({.at = now.micros(),
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
                      .status = 0});
}

HttpResponse not_recorded(const std::string& why) {
  return failure(507, Error{Errc::unavailable,
                            "the audit log: " + why + ". Changes are refused until it can be written"});
}

void record(AuditQueue& log, AuditEntry entry, const net::HttpServer::Reply& reply, HttpResponse response) {
  log.record(std::move(entry), [reply, response = std::make_shared<HttpResponse>(std::move(response))](
                                   const engine::Status& written) {
    reply(written ? std::move(*response) : not_recorded(written.error().message));
  });
}

}  // namespace

bool audited(RequestContext& context, Call& call, const Route* route) {
  AuditQueue* log = context.about.audit;
  if (log == nullptr) {
    return true;
  }
  const engine::Instant now = context.runtime.now();
  const bool changes = is_change(call, route) && !is_work_of_clients(route);
  if (const std::string why = changes ? log->why_not(now) : ""; !why.empty()) {
    call.reply(not_recorded(why));
    return false;
  }
  const bool reads = context.about.audits_reads && call.caller.role > Role::worker;
  AuditEntry entry = entry_of(call, now);
  name_resource(entry, call, route, context.runtime);
  call.reply = [&context, log, changes, reads, route, is_known = call.caller.role != Role::anyone,
                reply = std::move(call.reply), entry = std::move(entry)](HttpResponse response) {
    AuditEntry whole = entry;
    whole.status = response.status;
    if (changes && was_let_through(is_known, route, response.status)) {
      name_made(whole, route, response, context.runtime);
      record(*log, std::move(whole), reply, std::move(response));
    } else if (changes || is_refusal(response.status)) {
      log->note_refusal(std::move(whole));
      reply(std::move(response));
    } else if (reads && log->is_busy()) {
      log->record(std::move(whole), [reply, response = std::move(response)](const engine::Status&) {
        reply(response);  // A full disk stops no reads.
      });
    } else {
      if (reads) {
        log->record(std::move(whole), [](const engine::Status&) {});
      }
      reply(std::move(response));
    }
  };
  return true;
}

void note_refusal(RequestContext& context, const Call& call, unsigned status) {
  if (context.about.audit != nullptr && is_refusal(status)) {
    AuditEntry entry = entry_of(call, context.runtime.now());
    entry.status = status;
    context.about.audit->note_refusal(std::move(entry));
  }
}

}  // namespace hpsearch::daemon
