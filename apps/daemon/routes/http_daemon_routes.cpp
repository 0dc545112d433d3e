#include <unistd.h>

#include <algorithm>
#include <optional>
#include <variant>

#include "daemon/api/openapi.hpp"
#include "daemon/api/searcher_schema.hpp"
#include "daemon/core/backups.hpp"
#include "daemon/http/http_metrics.hpp"
#include "daemon/http/http_request_context.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/api/daemon.hpp"
#include "hpsearch/proto/api/schema.hpp"
#include "hpsearch/proto/events/stored.hpp"
#include "hpsearch/proto/sentences/stored_sentence.hpp"
#include "hpsearch/proto/wire/version.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::uint64_t most_events_at_once = 1'000;
constexpr std::uint64_t most_events_looked_at = 10'000;
constexpr std::uint64_t most_events_read_at_once = 100;  // Some events contain a whole configuration.
constexpr std::size_t enough_bytes_of_events = std::size_t{1} << 20;

constexpr std::string_view oldest_client = "0.2.0";

void health(RequestContext& context, Call call) {
  const Storage& storage = context.runtime.storage();
  api::Health health{.storage = storage.state};
  if (storage.intake != Intake::everything) {
    health.status = "degraded";
  }
  if (!storage.why.empty()) {
    health.why = sentences::stored_in(call.language(), storage.why);
  }
  call.reply(with(200, health));
}

void readiness(RequestContext& context, Call call) {
  call.reply(readiness_now(context));
}

void searchers(RequestContext& context, Call call) {
  api::SearcherList list;
  for (const engine::SearcherKind& kind : context.runtime.registry()) {
    list.searchers.push_back({std::string(kind.name),
                              {kind.fields.begin(), kind.fields.end()},
                              {kind.required.begin(), kind.required.end()}});
  }
  call.reply(with(200, list));
}

void searcher_schema(RequestContext& context, Call call) {
  const engine::SearcherKind* kind = engine::find_kind(context.runtime.registry(), call.word);
  if (kind == nullptr) {
    call.reply(failure(Error{Errc::not_found, "there is no searcher " + call.word}));
    return;
  }
  call.reply(with(200, searcher_json_schema(*kind, context.runtime.registry())));
}

void metrics(RequestContext& context, Call call) {
  call.reply(metrics_now(context, call.request));
}

void version(RequestContext& context, Call call) {
  call.reply(with(200, api::Version{.version = context.about.version,
                                    .api = {"v1"},
                                    .oldest_client = std::string(oldest_client),
                                    .wire_version = proto::wire_version,
                                    .store_version = proto::store_version}));
}

void status(RequestContext& context, Call call) {
  HttpResponse response = with(200, status_now(context, call.caller.scope, call.language()));
  if (context.runtime.stalled()) {
    call.reply(response);  // The answer shows the reason at once; its lsn shows whether it is durable.
  } else {
    context.answer(call, std::move(response));
  }
}

void configured_options(RequestContext& context, Call call) {
  api::Configuration answer;
  if (context.about.configuration) {
    for (const auto& [key, given] : context.about.configuration()) {
      answer.options.push_back({key, given.texts, configuration::text_of(given.place)});
    }
  }
  call.reply(with(200, answer));
}

void back_up(RequestContext& context, Call call) {
  if (context.about.backups == nullptr) {
    call.reply(failure(Error{
        Errc::not_found,
        "the store of this daemon is not in a file; hpsearch store backup reads it from its database"}));
    return;
  }
  if (context.runtime.storage().intake != Intake::everything) {
    call.reply(no_room(context.runtime.storage()));
    return;
  }
  context.about.backups->make([reply = call.reply](const Result<std::string>& path) {
    reply(path ? with(201, api::StoreCopy{*path}) : failure(path.error()));
  });
}

/// A client reports whether it has made a backup of the copy.
void conclude_backup(RequestContext& context, Call call) {
  if (context.about.backups == nullptr) {
    call.reply(failure(Error{
        Errc::not_found,
        "the store of this daemon is not in a file; hpsearch store backup reads it from its database"}));
    return;
  }
  const auto body = call.object();
  const Value* path = body ? body->at_path("path") : nullptr;
  const Value* good = body ? body->at_path("good") : nullptr;
  if (path == nullptr || path->as_text() == nullptr || good == nullptr || good->as_bool() == nullptr) {
    call.reply(failure(
        Error{Errc::bad_request, "the body must be {\"path\": the copy's path, \"good\": true or false}"}));
    return;
  }
  const engine::Status concluded = context.about.backups->conclude(
      *path->as_text(), *good->as_bool() ? Backups::Became::backup : Backups::Became::nothing);
  call.reply(concluded ? with(200, api::BackupResult{*path->as_text(), *good->as_bool()})
                       : failure(concluded.error()));
}

/// Streams events as they are stored, from the position that the client has.
void stream_events(RequestContext& context, const Call& call, const EventSelection& selection,
                   std::uint64_t after) {
  const std::string_view last = call.request.header("Last-Event-ID");
  const auto position = last.empty() ? std::optional(after) : read_number(last);
  if (!position) {
    call.reply(failure(Error{Errc::bad_request, "Last-Event-ID is \"" + std::string(last) +
                                                    "\"; it has to be the number of an event"}));
    return;
  }
  call.reply(context.streams->open.open(
      call.request, [&context, selection, after = *position](std::shared_ptr<net::HttpBody> body) {
        const engine::Lsn durable = context.runtime.store_counters().durable;
        context.streams->events.follow(std::move(body), selection, std::min(engine::Lsn(after), durable));
      }));
}

void events(RequestContext& context, Call call) {
  const auto after = number_of(call.request, "after", 0);
  const auto limit = number_of(call.request, "limit", 100);
  if (const Error* error = first_error(after, limit)) {
    call.reply(failure(*error));
    return;
  }
  Result<EventSelection> selection = EventSelection::of(call.request);
  if (!selection) {
    call.reply(failure(selection.error()));
    return;
  }
  selection->limit_to(call.caller.scope, context.streams->places);
  if (wants_stream(call.request)) {
    stream_events(context, call, *selection, *after);
    return;
  }
  context.read(
      call,
      [reply = call.reply, start = *after, most = std::min(*limit, most_events_at_once), wanted = *selection,
       language = call.language()](EventStore& store) -> Committer::Then {
        std::string list;
        std::uint64_t listed = 0;
        std::uint64_t last = std::min(start, store.last_lsn().number());
        std::uint64_t looked_at = 0;
        const auto is_enough = [&] { return listed == most || list.size() >= enough_bytes_of_events; };
        while (!is_enough() && looked_at < most_events_looked_at) {
          const auto some = store.read(engine::Lsn(last), most_events_read_at_once);
          if (!some) {
            return [reply, error = some.error()] { reply(failure(error)); };
          }
          if (some->empty()) {
            break;
          }
          for (const engine::Event& event : *some) {
            if (is_enough()) {
              break;
            }
            last = event.lsn.number();
            ++looked_at;
            if (wanted.takes(event)) {
              list.append(list.empty() ? "" : ",").append(engine::compact_json(shown(event, language)));
              ++listed;
            }
          }
        }
        HttpResponse response;
        response.status = 200;
        response.body = "{\"events\":[" + list + "],\"last_lsn\":" + std::to_string(last) + "}\n";
        return [reply, response = std::move(response)] { reply(response); };
      });
}

void describe_api(RequestContext&, Call call) {
  call.reply(with(200, api_description()));
}

constexpr QueryParameter events_query[] = {
    after_number,
    {"limit", QueryParameter::Kind::whole_number, "The most events of the page; large pages end earlier."},
    {"experiment", QueryParameter::Kind::whole_number, "Only events of this experiment."},
    {"trial", QueryParameter::Kind::whole_number, "Only events of this trial; needs `experiment`."},
    {"type", QueryParameter::Kind::text, "Only these types of events: a list with commas."},
    {"without", QueryParameter::Kind::text, "Without these types of events: a list with commas."},
};

constexpr Route daemon_table[] = {
    {"GET",
     "/healthz",
     Role::anyone,
     &health,
     {"health", "daemon", "Whether the daemon works", api::schema_of<api::Health>}},
    {"GET",
     "/version",
     Role::anyone,
     &version,
     {"version", "daemon", "Versions of the daemon", api::schema_of<api::Version>}},
    {"GET",
     "/metrics",
     Role::viewer,
     &metrics,
     {"daemon_metrics", "daemon", "Metrics of the daemon for Prometheus", nullptr, nullptr, 200,
      "text/plain"},
     {},
     true,
     Reach::all},
    {"GET",
     "/api/v1/status",
     Role::viewer,
     &status,
     {"status", "daemon", "The state of the daemon", api::schema_of<api::Status>}},
    {"GET",
     "/api/v1/configuration",
     Role::admin,
     &configured_options,
     {"configuration", "daemon", "The options of the daemon that were set, and what has set them",
      api::schema_of<api::Configuration>}},
    {"GET",
     "/api/v1/events",
     Role::viewer,
     &events,
     {"list_events", "daemon",
      "Lists stored events in their order, or streams them (Accept: text/event-stream)",
      api::schema_of<api::EventPage>},
     events_query},
    {"GET",
     "/api/v1/openapi.json",
     Role::anyone,
     &describe_api,
     {"describe_api", "daemon", "Describes this API", api::schema_of<api::ApiDescription>}},
    {"POST",
     "/api/v1/store/backup",
     Role::admin,
     &back_up,
     {"back_up_store", "daemon", "Copies the store into a file of its state directory",
      api::schema_of<api::StoreCopy>, nullptr, 201}},
    {"POST",
     "/api/v1/store/backup/result",
     Role::admin,
     &conclude_backup,
     {"conclude_backup", "daemon", "Removes a copy of the store; counts it as a backup if it is good",
      api::schema_of<api::BackupResult>, api::schema_of<api::BackupResult>}},
    {"GET",
     "/readyz",
     Role::anyone,
     &readiness,
     {"readiness", "daemon", "Whether the daemon takes all requests; 503 if not",
      api::schema_of<api::Readiness>}},
    {"GET",
     "/api/v1/searchers",
     Role::viewer,
     &searchers,
     {"list_searchers", "searchers", "Lists search algorithms", api::schema_of<api::SearcherList>}},
    {"GET",
     "/api/v1/searchers/{searcher}/schema",
     Role::viewer,
     &searcher_schema,
     {"searcher_schema", "searchers", "JSON Schema of the section `searcher` for this algorithm",
      api::schema_of<engine::Value::Map>}},
};

}  // namespace

Value status_now(const RequestContext& context, const Scope& scope, Language language) {
  const auto& experiments = context.runtime.engine().experiments();
  const auto counted = scope.is_all()
                           ? static_cast<std::ptrdiff_t>(experiments.size())
                           : std::count_if(experiments.begin(), experiments.end(), [&](const auto& one) {
                               return scope.has(engine::workspace_of(one.second.config));
                             });
  const Committer::Counters store = context.runtime.store_counters();
  const Storage& storage = context.runtime.storage();
  api::Status status;
  status.version = context.about.version;
  status.pid = static_cast<std::uint64_t>(::getpid());
  status.state_dir = context.about.state_dir;
  status.cluster = std::to_string(context.runtime.cluster());
  status.daemon_epoch = context.runtime.daemon_epoch();
  status.lsn = context.runtime.engine().last_lsn().number();
  status.durable_lsn = store.durable.number();
  status.uptime_seconds = (context.runtime.now() - context.about.started).in_seconds();
  status.engine_seconds = context.runtime.engine_seconds();
  status.late_reports = context.sessions.late_reports();
  status.store_seconds = store.seconds;
  status.commits = store.commits;
  status.events = store.events;
  status.experiments = static_cast<std::uint64_t>(counted);
  status.storage = {storage.state, storage.free_bytes, storage.total_bytes,
                    sentences::stored_in(language, storage.why)};
  for (const auto& kind : context.runtime.registry()) {
    status.searchers.emplace_back(kind.name);
  }
  return proto::encode_value(status);
}

std::span<const Route> daemon_routes() noexcept {
  return daemon_table;
}

}  // namespace hpsearch::daemon
