#include <optional>
#include <string>
#include <utility>

#include "daemon/core/past_states.hpp"
#include "daemon/http/column_read.hpp"
#include "daemon/http/http_request_context.hpp"
#include "hpsearch/proto/api/charts.hpp"
#include "hpsearch/proto/api/schema.hpp"
#include "hpsearch/proto/views/history.hpp"
#include "hpsearch/proto/views/importance.hpp"
#include "hpsearch/proto/views/rung_ladder.hpp"
#include "hpsearch/proto/views/timeline.hpp"

namespace hpsearch::daemon {
namespace {

net::HttpResponse json(std::string body) {
  net::HttpResponse response;
  response.body = std::move(body) + "\n";
  return response;
}

void history(RequestContext& context, Call call) {
  const auto record = context.experiment(call);
  context.answer(
      call, record ? json(views::history_json(**record, context.runtime.now())) : failure(record.error()));
}

void metric_names(RequestContext& context, Call call) {
  const auto record = context.experiment(call);
  context.answer(
      call, record ? json(context.runtime.metric_names().json(call.experiment())) : failure(record.error()));
}

void past_rungs(RequestContext& context, const Call& call, engine::Lsn lsn, engine::Lsn last) {
  context.past->look(
      lsn,
      [id = call.experiment(), lsn, last](const engine::Engine& then, engine::Instant at) {
        views::RungLadder ladder = views::rung_ladder(*then.find(id), lsn, at);
        ladder.last = last;
        return to_json(ladder);
      },
      [reply = call.reply](const Result<std::string>& text) {
        reply(text ? json(*text) : failure(text.error()));
      });
}

void rungs(RequestContext& context, Call call) {
  const auto record = context.experiment(call);
  const engine::Engine& engine = context.runtime.engine();
  const auto at = number_of(call.request, "at", engine.last_lsn().number());
  if (const Error* error = first_error(record, at)) {
    context.answer(call, failure(*error));
    return;
  }
  const engine::Lsn first = (*record)->created_by;
  // Later events of other experiments change nothing here: the experiment's time ends with its own last
  // event.
  const engine::Lsn last = (*record)->changed_by;
  if (*at < first.number() || *at > engine.last_lsn().number()) {
    context.answer(call,
                   failure(Error{Errc::bad_request, "at is " + std::to_string(*at) + "; it has to be from " +
                                                        std::to_string(first.number()) + " to " +
                                                        std::to_string(last.number())}));
    return;
  }
  if (*at < last.number()) {
    context.when_durable(
        call, [&context, call, lsn = engine::Lsn(*at), last] { past_rungs(context, call, lsn, last); });
    return;
  }
  const bool is_over = engine::is_ended((*record)->state);
  auto ladder = std::make_shared<views::RungLadder>(
      views::rung_ladder(**record, last, is_over ? (*record)->ended_at : engine.last_instant()));
  context.answer_beside(call, [ladder] { return json(to_json(*ladder)); });
}

/// Seconds since the epoch, from the query.
Result<std::optional<engine::Instant>> instant_of(const net::HttpRequest& request, std::string_view name) {
  const std::string text(request.query_or(name, {}));
  if (text.empty()) {
    return std::optional<engine::Instant>();
  }
  const auto seconds = read_real(text);
  if (!seconds || !(*seconds >= 0 && *seconds < 1e12)) {
    return Error{Errc::bad_request, std::string(name) + " is \"" + text +
                                        "\"; it has to be a number of seconds since the epoch"};
  }
  return std::optional(engine::Instant::from_micros(static_cast<std::int64_t>(*seconds * 1e6)));
}

views::TimelineSources timeline_sources(const RequestContext& context, const Call& call) {
  return {context.runtime.engine(), context.runtime.worker_times(),
          [scope = call.caller.scope](const engine::ExperimentRecord& experiment) {
            return scope.has(engine::workspace_of(experiment.config));
          },
          context.runtime.now()};
}

void timeline(RequestContext& context, Call call) {
  const auto record = context.experiment(call);
  const auto from = instant_of(call.request, "from");
  const auto to = instant_of(call.request, "to");
  const auto bins = number_of(call.request, "bins", 0);
  if (const Error* error = first_error(record, from, to, bins)) {
    context.answer(call, failure(*error));
    return;
  }
  const views::TimeWindow window{*from, *to, *bins};
  auto view =
      std::make_shared<views::Timeline>(views::timeline(**record, timeline_sources(context, call), window));
  context.answer_beside(call, [view, window] { return json(to_json(*view, window)); });
}

void worker_timeline(RequestContext& context, Call call) {
  const auto& workers = context.runtime.engine().workers();
  const auto worker = workers.find(call.worker());
  const auto from = instant_of(call.request, "from");
  const auto to = instant_of(call.request, "to");
  const auto bins = number_of(call.request, "bins", 0);
  if (worker == workers.end() || engine::is_external(worker->second)) {
    context.answer(call, failure(Error{Errc::not_found,
                                       "there is no worker " + std::to_string(call.worker().number())}));
    return;
  }
  if (const Error* error = first_error(from, to, bins)) {
    context.answer(call, failure(*error));
    return;
  }
  const views::TimeWindow window{*from, *to, *bins};
  auto view = std::make_shared<views::Timeline>(
      views::timeline(worker->second, timeline_sources(context, call), window));
  context.answer_beside(call, [view, window] { return json(to_json(*view, window)); });
}

void columns(RequestContext& context, Call call) {
  views::ColumnsQuery query;
  query.fields = call.request.query_or("fields", {});
  query.where = call.request.query_or("where", {});
  const auto sample = number_of(call.request, "sample", 0);
  const auto length = number_of(call.request, "length", 0);
  if (const Error* error = first_error(sample, length)) {
    context.answer(call, failure(*error));
    return;
  }
  query.sample = *sample;
  if (*length > 0) {
    query.length = engine::Units(*length);
  }
  const bool in_bytes = call.request.header("Accept").find(views::columns_type) != std::string_view::npos;
  answer_with_columns(context, call, query, [in_bytes](const views::Columns& columns) {
    if (!in_bytes) {
      return json(to_json(columns));
    }
    net::HttpResponse response;
    response.content_type = views::columns_type;
    response.body = to_bytes(columns);
    return response;
  });
}

void importance(RequestContext& context, Call call) {
  const auto record = context.experiment(call);
  const auto rung = number_of(call.request, "rung", UINT64_MAX);
  if (const Error* error = first_error(record, rung)) {
    context.answer(call, failure(*error));
    return;
  }
  const std::string& metric = (*record)->config.searcher.metric;
  if (const auto asked = call.request.query_or("metric", metric); asked != metric) {
    context.answer(
        call, failure(Error{Errc::bad_request, "metric is \"" + std::string(asked) +
                                                   "\"; rungs have results of \"" + metric + "\" only"}));
    return;
  }
  const bool any = call.request.query_or("rung", {}).empty();
  // Results of this moment; the hyperparameters of their trials never change.
  auto ladder = std::make_shared<views::RungLadder>(views::rung_ladder(
      **record, context.runtime.engine().last_lsn(), context.runtime.engine().last_instant()));
  auto space = std::make_shared<engine::Space>((*record)->hparams.space());
  views::ColumnsQuery query;
  query.only_hparams = true;
  answer_with_columns(
      context, call, query,
      [ladder, space, any, rung = *rung, language = call.language(),
       learns =
           (*record)->config.searcher.sampler != engine::SamplerName::random](const views::Columns& columns) {
        return json(views::importance_json(*ladder, columns, *space, any ? std::nullopt : std::optional(rung),
                                           learns, language));
      });
}

constexpr QueryParameter importance_query[] = {
    {"metric", QueryParameter::Kind::text, "The searcher's, which is the only one that rungs have."},
    {"rung", QueryParameter::Kind::whole_number,
     "From 0, the shortest; without it, the longest with enough results."},
};
constexpr QueryParameter columns_query[] = {
    {"fields", QueryParameter::Kind::text, "Names with commas between."},
    {"where", QueryParameter::Kind::text, "A condition on trials: lr<0.01 and state=COMPLETED."},
    {"sample", QueryParameter::Kind::whole_number, "At most so many rows; 0 for all."},
    {"length", QueryParameter::Kind::whole_number,
     "Where `result` was measured; 0 for the longest rung with enough results."},
};
constexpr QueryParameter rungs_query[] = {
    {"at", QueryParameter::Kind::whole_number, "An event's number; without it, the present."}};
constexpr QueryParameter timeline_query[] = {
    {"from", QueryParameter::Kind::text,
     "Seconds since the epoch; without it, the first attempt, or 24 hours ago of a worker."},
    {"to", QueryParameter::Kind::text, "Seconds since the epoch; without it, now."},
    {"bins", QueryParameter::Kind::whole_number,
     "Equal parts of the window; 0 for bars, if they are not too many.", 0, views::most_bins},
};

constexpr Route bulk_table[] = {
    {"GET",
     "/api/v1/experiments/{experiment}/columns",
     Role::viewer,
     &columns,
     {"get_columns", "bulk", "Shows trials as columns", api::schema_of<api::Columns>},
     columns_query,
     true,
     Reach::usual,
     {Lane::experiments}},
    {"GET",
     "/api/v1/experiments/{experiment}/history",
     Role::viewer,
     &history,
     {"get_history", "bulk", "Shows how the best metric became better", api::schema_of<api::History>}},
    {"GET",
     "/api/v1/experiments/{experiment}/importance",
     Role::viewer,
     &importance,
     {"get_importance", "bulk", "Shows how much each hyperparameter matters",
      api::schema_of<api::Importance>},
     importance_query,
     true,
     Reach::usual,
     {Lane::experiments}},
    {"GET",
     "/api/v1/experiments/{experiment}/metrics",
     Role::viewer,
     &metric_names,
     {"get_metric_names", "bulk", "Lists the metrics that programs report",
      api::schema_of<api::MetricNames>}},
    {"GET",
     "/api/v1/experiments/{experiment}/rungs",
     Role::viewer,
     &rungs,
     {"get_rungs", "bulk", "Shows where all trials stand, now or at a past moment",
      api::schema_of<api::RungLadder>},
     rungs_query,
     true,
     Reach::usual,
     {Lane::experiments}},
    {"GET",
     "/api/v1/experiments/{experiment}/timeline",
     Role::viewer,
     &timeline,
     {"get_timeline", "bulk", "Shows which slots the attempts held, and when", api::schema_of<api::Timeline>},
     timeline_query,
     true,
     Reach::usual,
     {Lane::experiments}},
    {"GET",
     "/api/v1/workers/{worker}/timeline",
     Role::viewer,
     &worker_timeline,
     {"get_worker_timeline", "bulk", "Shows what held the slots of a worker, and when",
      api::schema_of<api::Timeline>},
     timeline_query,
     true,
     Reach::usual,
     {Lane::experiments}},
};

}  // namespace

std::span<const Route> bulk_routes() noexcept {
  return bulk_table;
}

}  // namespace hpsearch::daemon
