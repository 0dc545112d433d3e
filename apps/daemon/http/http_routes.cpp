#include "daemon/http/http_routes.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <variant>

#include "daemon/core/past_states.hpp"
#include "daemon/http/http_audit.hpp"
#include "daemon/http/http_metrics.hpp"
#include "daemon/http/http_repeats.hpp"
#include "daemon/http/http_request_context.hpp"
#include "daemon/http/route_path.hpp"
#include "daemon/pages/pages.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/sha256.hpp"
#include "hpsearch/proto/api/charts.hpp"
#include "hpsearch/proto/api/daemon.hpp"
#include "hpsearch/proto/api/experiments.hpp"
#include "hpsearch/proto/api/queues.hpp"
#include "hpsearch/proto/api/schema.hpp"
#include "hpsearch/proto/api/trials.hpp"
#include "hpsearch/proto/api/utilization.hpp"
#include "hpsearch/proto/api/workers.hpp"

namespace hpsearch::daemon {
namespace {

using net::HttpRequest;

constexpr std::size_t most_sign_ins_at_once = 4;

/// Whether the text is spelled like names of searchers, workspaces and so on.
bool is_word(std::string_view text) noexcept {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  return !text.empty() && text.size() <= 100 && text.find_first_not_of(letters) == std::string_view::npos;
}

/// Whether the placeholder accepts `text`; if so, stores the value in the call.
bool take(Placeholder placeholder, std::string_view text, Call& call) {
  switch (placeholder) {
    case Placeholder::none:
      return false;
    case Placeholder::number: {
      const auto number = read_number(text);
      call.numbers.push_back(number.value_or(0));
      return number.has_value();
    }
    case Placeholder::digest:
      call.digest = text;
      return files::is_sha256(text);
    case Placeholder::token_id:
      call.token_id = text;
      return is_token_id(text);
    case Placeholder::name:
      call.word = text;
      return is_word(text);
  }
  return false;
}

/// Whether the path of `call` matches the pattern; if so, stores the values of the placeholders in the call.
bool match(std::string_view pattern, Call& call) {
  if (pattern == page_paths) {
    return Pages::is_page(call.request.path);
  }
  std::string_view path = call.request.path;
  call.numbers.clear();
  call.digest.clear();
  call.token_id.clear();
  call.word.clear();
  while (!pattern.empty() && !path.empty()) {
    const std::string_view wanted = take_segment(pattern);
    const std::string_view given = take_segment(path);
    const Placeholder placeholder = placeholder_in(wanted);
    if (placeholder == Placeholder::none ? wanted != given : !take(placeholder, given.substr(1), call)) {
      return false;
    }
  }
  return pattern.empty() && path.empty();
}

net::HttpResponse not_allowed(const Caller& caller, const Route& route) {
  return refusal(403, caller.name + " is " + std::string(name_of(caller.role)) + "; " +
                          std::string(route.method) + " on this path needs " +
                          std::string(name_of(route.least)));
}

constexpr std::string_view below_an_experiment = "/api/v1/experiments/{experiment}";

/// Why the caller, whose role is sufficient, may not use the route for the object that the call names.
std::optional<net::HttpResponse> out_of_reach(const RequestContext& context, const Call& call,
                                              const Route& route) {
  const Caller& caller = call.caller;
  const bool needs_all = route.reach == Reach::all || route.least >= Role::operate;
  if (!route.path.starts_with(below_an_experiment)) {
    return needs_all && route.least > Role::worker && !caller.scope.is_all()
               ? std::optional(refusal(403, caller.name + " is " + std::string(name_of(caller.role)) +
                                                " in " + caller.scope.text() + "; " +
                                                std::string(route.method) +
                                                " on this path needs a token for all workspaces"))
               : std::nullopt;
  }
  const engine::ExperimentRecord* record = context.runtime.engine().find(call.experiment());
  if (record == nullptr) {
    const auto& deleted = context.runtime.engine().deleted();
    const auto found = deleted.find(call.experiment());
    const bool hides = found != deleted.end() && !caller.scope.has(found->second.workspace);
    return hides ? std::optional(failure(no_experiment(call.experiment()))) : std::nullopt;
  }
  if (!may_see(caller, *record)) {
    return failure(no_experiment(call.experiment()));
  }
  const bool changes =
      route.method != "GET" && route.method != "HEAD" && route.reach != Reach::any_experiment;
  if (changes && caller.role == Role::submit && owner_name(caller) != record->owner) {
    return refusal(403, "experiment " + std::to_string(call.experiment().number()) + " belongs to " +
                            (record->owner.empty() ? "another user" : record->owner) +
                            "; a submitter changes only its own experiments");
  }
  return std::nullopt;
}

/// Finds the route of the call and checks that its caller may use it; otherwise returns the response.
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
        auto refused = out_of_reach(context, call, route);
        return refused ? std::variant<const Route*, net::HttpResponse>(*std::move(refused)) : &route;
      }
      return call.caller.role == Role::anyone ? token_needed() : not_allowed(call.caller, route);
    }
  }
  if (call.caller.role == Role::anyone) {
    return token_needed();  // Unknown callers must not learn which paths exist.
  }
  return path_known
             ? failure(405, Error{Errc::bad_request, call.request.method + " is not served on this path"})
             : failure(Error{Errc::not_found, "there is nothing at this path"});
}

net::HttpResponse too_much(const Caller& caller, const std::string& of_what) {
  net::HttpResponse response = refusal(429, caller.name + " " + of_what);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

/// The response to a person, or to a caller whose token has sent too many requests, or keeps too many
/// connections busy. Null: the call is within both limits, and counts.
std::optional<net::HttpResponse> over_its_limits(RequestContext& context, Call& call) {
  if (call.caller.token_id.empty() && call.caller.person.empty()) {
    return std::nullopt;
  }
  const std::string token = key_owner(call.caller);
  if (context.rates.take(token, context.runtime.now())) {
    return too_much(
        call.caller,
        "sends more than " + std::to_string(static_cast<int>(RequestRates::a_second)) + " requests a second");
  }
  auto busy = context.connections.take(token);
  if (busy == nullptr) {
    return too_much(call.caller, "has " + std::to_string(BusyConnections::most_of_a_token) +
                                     " requests and streams that are being answered, and may have no more");
  }
  call.reply = [busy = std::move(busy), reply = std::move(call.reply)](net::HttpResponse response) {
    response.held.push_back(busy);
    reply(std::move(response));
  };
  return std::nullopt;
}

/// A reply that also counts the response.
net::HttpServer::Reply counted(HttpCounts& counts, const Call& call, std::string_view route,
                               std::string_view method) {
  ++counts.in_flight;
  return [&counts, route, method, began = std::chrono::steady_clock::now(), id = call.request.id,
          reply = call.reply](net::HttpResponse response) {
    --counts.in_flight;
    ++counts.answers[{route, method, response.status / 100}];
    counts.take(id, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    if (response.status == 401 || response.status == 403 || response.status == 429) {
      ++counts.denied[response.status];
    }
    reply(std::move(response));
  };
}

/// For callers that have not shown credentials yet.
bool has_large_body(const HttpRequest& head) {
  constexpr std::uint64_t most = 4096;
  const std::string_view length = head.header("Content-Length");
  return !head.header("Transfer-Encoding").empty() ||
         (!length.empty() && read_number(length).value_or(most + 1) > most);
}

/// Whether answers of the route have sentences, in the language that the request prefers.
bool has_sentences(const Operation& about) {
  constexpr JsonSchema answers[] = {
      api::schema_of<api::Experiment>,  api::schema_of<api::ExperimentPage>,
      api::schema_of<api::Trial>,       api::schema_of<api::ExperimentSummary>,
      api::schema_of<api::TrialPage>,   api::schema_of<std::optional<api::Trial>>,
      api::schema_of<api::Explanation>, api::schema_of<api::Importance>,
      api::schema_of<api::Worker>,      api::schema_of<api::WorkerPage>,
      api::schema_of<api::SlotPage>,    api::schema_of<api::Utilization>,
      api::schema_of<api::Queue>,       api::schema_of<api::QueueList>,
      api::schema_of<api::Status>,      api::schema_of<api::Health>,
      api::schema_of<api::EventPage>};
  return about.id == "stream_changes" ||
         std::find(std::begin(answers), std::end(answers), about.answer) != std::end(answers);
}

/// Answers with sentences name their language, so that no cache gives them to readers of another one.
/// Refusals are in English.
void name_language(const Route& route, Call& call) {
  const bool streams_events =  // As they are stored.
      route.about.answer == api::schema_of<api::EventPage> && wants_stream(call.request);
  if (!has_sentences(route.about) || streams_events) {
    return;
  }
  call.reply = [language = call.language(), reply = std::move(call.reply)](net::HttpResponse response) {
    const Language spoken = response.status < 400 ? language : Language::english;
    response.headers.emplace_back("Content-Language", sentences::name_of(spoken));
    response.headers.emplace_back("Vary", "Accept-Language");
    reply(std::move(response));
  };
}

void handle(RequestContext& context, HttpRequest request, net::HttpServer::Reply reply) {
  Call call;
  call.request = std::move(request);
  call.reply = std::move(reply);
  std::variant<const Route*, net::HttpResponse> found = find_route(context, call);
  const Route* const* allowed = std::get_if<const Route*>(&found);
  if (!audited(context, call, allowed != nullptr ? *allowed : nullptr)) {
    return;
  }
  if (auto refused = over_its_limits(context, call)) {
    found = *std::move(refused);
  }
  if (auto* refused = std::get_if<net::HttpResponse>(&found)) {
    counted(context.http_counts, call, "", "")(std::move(*refused));
    return;
  }
  const Route& route = *std::get<const Route*>(found);
  call.reply = counted(context.http_counts, call, route.path, route.method);
  const bool checked = route.query.data() != any_query;
  if (const engine::Problems unknown = unknown_parameters(route.query, call.request);
      checked && !unknown.empty()) {
    call.reply(failure("the query is wrong", unknown, ProblemsIn::query));
    return;
  }
  if (const engine::Status good = check_parameters(route.query, call.request); !good) {
    call.reply(failure(good.error()));
    return;
  }
  if (is_yaml(call.request) && !call.request.body.empty() && !route.about.takes_yaml) {
    call.reply(failure(415, Error{Errc::bad_request, "the body has to be application/json"}));
    return;
  }
  if (is_to_be_carried_out(context, route, call)) {
    name_language(route, call);  // A repeated request gets the language of the first.
    carry_out_in_turn(context, route, std::move(call));
  }
}

}  // namespace

std::array<std::span<const Route>, 25> all_routes() noexcept {
  return {daemon_routes(),     access_routes(),
          session_routes(),    usage_routes(),
          worker_routes(),     queue_routes(),
          submission_routes(), experiment_list_routes(),
          experiment_routes(), experiment_change_routes(),
          trial_routes(),      bulk_routes(),
          curve_routes(),      export_routes(),
          log_routes(),        stream_routes(),
          file_routes(),       invite_routes(),
          kept_routes(),       checkpoint_routes(),
          context_routes(),    ask_routes(),
          annotation_routes(), page_routes(),
          workspace_routes()};
}

ServedRoutes http_routes(Runtime& runtime, WorkerSessions& sessions, AboutDaemon about) {
  auto context = std::make_shared<RequestContext>(RequestContext{runtime, sessions, std::move(about)});
  net::Loop& loop = context->about.checks->loop();
  context->lanes = std::make_unique<Lanes>(loop);
  context->reads = std::make_unique<net::Background>(loop, most_experiment_reads + most_log_searches);
  context->past = std::make_shared<PastStates>(runtime, context->reads.get());
  context->leases = std::make_unique<ExternalLeases>(runtime);
  context->checkpoint_reads = std::make_unique<net::Background>(loop, most_checkpoint_reads);
  context->sign_ins = std::make_unique<net::Background>(loop, most_sign_ins_at_once);
  context->streams = std::make_unique<Streams>(
      runtime, loop,
      [context = context.get()](const HttpRequest& request) {
        Call call;
        call.request = request;
        return std::holds_alternative<const Route*>(find_route(*context, call));
      },
      TopicFeed::Values{
          .summary = [context = context.get()](
                         const auto& record,
                         Language language) { return summary_now(*context, record, language); },
          .detail = [context = context.get()](
                        const auto& record,
                        Language language) { return detail_now(*context, record, language); },
          .waits_for = [context = context.get()](
                           const auto& record,
                           Language language) { return waits_for(*context, record, language); },
          .worker = [context = context.get()](
                        const auto& worker, Language language,
                        const Scope& scope) { return worker_now(*context, worker, language, scope); },
          .status = [context = context.get()](
                        const Scope& scope,
                        Language language) { return status_now(*context, scope, language); }});
  return {[context](HttpRequest request, net::HttpServer::Reply reply) {
            handle(*context, std::move(request), std::move(reply));
          },
          [context](const HttpRequest& head) -> net::HttpEntry {
            Call call;
            call.request = head;
            auto found = find_route(*context, call);
            auto* refused = std::get_if<net::HttpResponse>(&found);
            if (refused == nullptr && call.caller.role == Role::anyone && has_large_body(head)) {
              return {failure(413, Error{Errc::bad_request, "a body of strangers has at most 4096 bytes"})};
            }
            if (refused != nullptr) {
              note_refusal(*context, call, refused->status);
            }
            const bool is_known =
                !call.caller.token_id.empty() || call.caller.uid || !call.caller.person.empty();
            return {refused == nullptr ? std::nullopt : std::optional(std::move(*refused)),
                    is_known ? key_owner(call.caller) : ""};
          },
          [context] { context->streams->open.end(); },
          [context](const HttpRequest& request, const net::HttpServer::Reply& reply) {
            reply(answer_scraper(*context, request));
          }};
}

}  // namespace hpsearch::daemon
