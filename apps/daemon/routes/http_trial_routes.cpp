#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/http/column_read.hpp"
#include "daemon/http/http_pages.hpp"
#include "daemon/http/http_request_context.hpp"
#include "daemon/streams/event_selection.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"
#include "hpsearch/proto/api/schema.hpp"
#include "hpsearch/proto/api/trials.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/views/trial_order.hpp"

namespace hpsearch::daemon {
namespace {

using engine::TrialNumber;

/// A page of metrics ends when it has this many: the store accepts no reports while it is read.
constexpr std::size_t enough_numbers = 5'000;
constexpr std::size_t enough_page_bytes = std::size_t{128} << 10;
constexpr std::uint64_t most_on_a_page = 500;
/// If the query has one of these, all trials are examined.
constexpr std::string_view choices[] = {"state", "sort", "where"};

/// The trial, with data that is not in the log.
api::Trial trial_now(RequestContext& context, const engine::ExperimentRecord& record, TrialNumber number,
                     Language language) {
  api::Trial trial = api::trial_of(record, number, context.runtime.now(), language);
  const auto& live = record.trials[number.number()].live;
  const auto heard = live ? context.sessions.last_activity_of(live->worker, live->key) : std::nullopt;
  trial.heard_at.emplace();
  trial.heard_step.emplace();
  if (heard) {
    trial.heard_at = static_cast<double>(heard->at.micros()) / 1e6;
    trial.heard_step = heard->step;
  }
  return trial;
}

/// "COMPLETED,FAILED" as a set of bits.
Result<std::uint32_t> states_in(std::string_view list) {
  std::uint32_t states = 0;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    const std::string_view name = list.substr(begin, comma - begin);
    const auto state = engine::trial_state_named(name);
    if (!state) {
      return Error{Errc::bad_request,
                   "state: \"" + std::string(name.substr(0, 100)) +
                       "\" is no state of a trial (PENDING, RUNNING, PAUSED, COMPLETED, STOPPED, "
                       "FAILED, CANCELED)"};
    }
    states |= 1U << static_cast<unsigned>(*state);
    begin = comma + 1;
  }
  return states;
}

HttpResponse sorted_page(RequestContext& context, const engine::ExperimentRecord& record,
                         const views::TrialOrder& order, const views::Columns& columns, std::size_t limit,
                         Language language) {
  const views::TrialOrder::Page page = order.page(columns, limit);
  std::string list;
  std::size_t shown = 0;
  for (; shown < page.trials.size() && list.size() < enough_page_bytes; ++shown) {
    list.append(list.empty() ? "" : ",")
        .append(engine::compact_json(
            proto::encode_value(trial_now(context, record, TrialNumber(page.trials[shown]), language))));
  }
  const bool more = page.behind > 0 || shown < page.trials.size();
  HttpResponse response;
  response.body = "{\"matched\":" + std::to_string(columns.rows) + ",\"next\":" +
                  (more ? "\"" + order.cursor_behind(columns, page.trials[shown - 1]) + "\"" : "null") +
                  ",\"total\":" + std::to_string(columns.total) + ",\"trials\":[" + list + "]}\n";
  return response;
}

/// Lists the trials that match a condition or states, in an order.
void chosen_trials(RequestContext& context, const Call& call) {
  const auto record = context.experiment(call);
  const auto states = states_in(call.request.query_or("state", {}));
  const auto limit = number_of(call.request, "limit", most_on_a_page);
  const auto order = record ? views::TrialOrder::read(**record, call.request.query_or("sort", {}),
                                                      call.request.query_or("after", {}))
                            : Result<views::TrialOrder>(record.error());
  if (const Error* error = first_error(order, states, limit)) {
    context.answer(call, failure(*error));
    return;
  }
  views::ColumnsQuery query;
  query.fields = order->fields();
  query.where = call.request.query_or("where", {});
  query.states = *states;
  read_columns(context, call, query,
               [&context, call, order = *order, most = std::min<std::uint64_t>(*limit, most_on_a_page)](
                   const engine::ExperimentRecord& experiment, views::ColumnScan read) {
                 const views::Columns columns = read.take();
                 context.answer(call,
                                sorted_page(context, experiment, order, columns, most, call.language()));
               });
}

void trials(RequestContext& context, Call call) {
  for (const std::string_view choice : choices) {
    if (!call.request.query_or(choice, {}).empty()) {
      chosen_trials(context, call);
      return;
    }
  }
  answer_page(context, call,
              {"trials", [](const engine::ExperimentRecord&, TrialNumber) { return std::size_t{1}; },
               [&context, language = call.language()](const engine::ExperimentRecord& record,
                                                      TrialNumber number, std::size_t) {
                 return proto::encode_value(trial_now(context, record, number, language));
               }});
}

void trial(RequestContext& context, Call call) {
  const auto record = context.experiment_with_trial(call);
  if (!record) {
    context.answer(call, failure(record.error()));
    return;
  }
  api::Trial trial = trial_now(context, **record, call.trial(), call.language());
  const std::string problem = context.about.kept != nullptr
                                  ? context.about.kept->log_problem_of(call.experiment(), call.trial())
                                  : "";
  trial.log_problem.emplace();
  if (!problem.empty()) {
    trial.log_problem = problem;
  }
  context.answer(call, with(200, trial));
}

/// The pages number them by their order of arrival, from 1.
HttpResponse checkpoints_page(const engine::ExperimentRecord& record, TrialNumber number, NumberedPage page) {
  const std::uint64_t total = api::count_of_checkpoints(record, number);
  std::uint64_t place = std::min(page.after(), total);
  for (; place < total && page.takes_more(); ++place) {
    page.add(place + 1, proto::encode_value(api::checkpoint_of(record, number, place)));
  }
  return page.answer(place < total);
}

void checkpoints(RequestContext& context, Call call) {
  const auto record = context.experiment_with_trial(call);
  const auto page = NumberedPage::of(call, "checkpoints");
  context.answer(call, record && page ? checkpoints_page(**record, call.trial(), *page)
                                      : failure(record ? page.error() : record.error()));
}

void delete_checkpoints(RequestContext& context, Call call) {
  const auto body = call.object();
  if (!body) {
    call.reply(failure(body.error()));
    return;
  }
  engine::DeleteCheckpoints command{call.experiment(), call.trial(), {}};
  const Value* paths = body->at_path("paths");
  const Value::List* list = paths != nullptr ? paths->as_list() : nullptr;
  bool good = list != nullptr && !list->empty();
  for (std::size_t i = 0; good && i < list->size(); ++i) {
    good = (*list)[i].as_text() != nullptr;
    command.paths.push_back(good ? *(*list)[i].as_text() : "");
  }
  if (!good) {
    call.reply(failure(
        Error{Errc::bad_request, "paths has to be a list of checkpoints, as GET .../checkpoints has them"}));
    return;
  }
  context.perform(call, std::move(command), [&context, id = call.experiment(), trial = call.trial()] {
    const engine::ExperimentRecord* record = context.runtime.engine().find(id);
    return record != nullptr ? checkpoints_page(*record, trial, *NumberedPage::of({}, "checkpoints"))
                             : failure(context.runtime.engine().no_experiment(id));
  });
}

void change_trial(RequestContext& context, const Call& call, engine::Command command) {
  context.perform(call, std::move(command), [&context, call] {
    const engine::ExperimentRecord* record = context.runtime.engine().find(call.experiment());
    return record != nullptr ? with(200, trial_now(context, *record, call.trial(), call.language()))
                             : failure(context.runtime.engine().no_experiment(call.experiment()));
  });
}

void cancel_trial(RequestContext& context, Call call) {
  change_trial(context, call,
               engine::EndTrial{call.experiment(), call.trial(), engine::ExitReason::user_canceled});
}

void stop_trial(RequestContext& context, Call call) {
  change_trial(context, call,
               engine::EndTrial{call.experiment(), call.trial(), engine::ExitReason::user_stopped});
}

void retry_trial(RequestContext& context, Call call) {
  change_trial(context, call, engine::RetryTrial{call.experiment(), call.trial()});
}

void explain(RequestContext& context, Call call) {
  const auto record = context.experiment_with_trial(call);
  if (!record) {
    context.answer(call, failure(record.error()));
    return;
  }
  // The engine's present and the store's history are both of this moment: later commits are in neither.
  const engine::Explanation explanation =
      engine::explain(**record, call.trial(), context.runtime.engine().workers(), context.runtime.now());
  api::Explanation now = api::explanation_of(**record, call.trial(), explanation, call.language());
  context.read(call,
               [reply = call.reply, now = std::move(now), id = call.experiment(), number = call.trial(),
                language = call.language()](EventStore& store) -> Committer::Then {
                 const auto events = store.history(id, number);
                 if (!events) {
                   return [reply, error = events.error()] { reply(failure(error)); };
                 }
                 api::Explanation answer = now;
                 for (const engine::Event& event : *events) {
                   answer.history.push_back({shown(event, language)});
                 }
                 HttpResponse response = with(200, answer);
                 return [reply, response = std::move(response)] { reply(response); };
               });
}

/// "ATTEMPT.SEQ", as `next` of a page spells it.
Result<MetricPosition> metric_position(std::string_view text) {
  const std::size_t dot = text.find('.');
  const auto attempt = read_number(text.substr(0, dot));
  const auto seq = dot == std::string_view::npos ? std::nullopt : read_number(text.substr(dot + 1));
  if (!text.empty() && (!attempt || !seq)) {
    return Error{Errc::bad_request,
                 "after is \"" + std::string(text) + "\"; it has to be what `next` of the page before says"};
  }
  return text.empty() ? MetricPosition{} : MetricPosition{engine::AttemptNumber(*attempt), *seq};
}

void metrics(RequestContext& context, Call call) {
  const auto record = context.experiment_with_trial(call);
  const auto after = metric_position(call.request.query_or("after", {}));
  if (const Error* error = first_error(record, after)) {
    context.answer(call, failure(*error));
    return;
  }
  context.read(
      call,
      [reply = call.reply, id = call.experiment(), number = call.trial(),
       position = *after](EventStore& store) -> Committer::Then {
        const auto points = store.metrics(id, number, position, enough_numbers);
        if (!points) {
          return [reply, error = points.error()] { reply(failure(error)); };
        }
        api::MetricPage page;
        std::size_t numbers = 0;
        for (const MetricPoint& point : *points) {
          page.metrics.push_back({point.attempt, point.step, {point.metrics.begin(), point.metrics.end()}});
          numbers += point.metrics.size();
        }
        if (numbers >= enough_numbers) {
          page.next =
              std::to_string(points->back().attempt.number()) + "." + std::to_string(points->back().seq);
        }
        HttpResponse response = with(200, page);
        return [reply, response = std::move(response)] { reply(response); };
      });
}

constexpr QueryParameter after_query[] = {after_position};
constexpr QueryParameter trials_query[] = {
    {"state", QueryParameter::Kind::text, "Only those in one of these states, with commas between."},
    {"where", QueryParameter::Kind::text, "A condition on trials: lr<0.01 and state=COMPLETED."},
    {"sort", QueryParameter::Kind::text,
     "Names of columns with commas between, the best metric first; -NAME for the other way round."},
    after_position,
    page_limit,
};

constexpr Route trial_table[] = {
    {"GET",
     "/api/v1/experiments/{experiment}/trials/{trial}/checkpoints",
     Role::viewer,
     &checkpoints,
     {"list_trial_checkpoints", "trials", "Lists checkpoints of a trial",
      api::schema_of<api::TrialCheckpointPage>},
     page_query},
    {"POST",
     "/api/v1/experiments/{experiment}/trials/{trial}/checkpoints/delete",
     Role::submit,
     &delete_checkpoints,
     {"delete_checkpoints", "trials", "Deletes files of checkpoints",
      api::schema_of<api::TrialCheckpointPage>, api::schema_of<api::CheckpointDeletion>}},
    {"GET",
     "/api/v1/experiments/{experiment}/trials",
     Role::viewer,
     &trials,
     {"list_trials", "trials", "Lists trials by number, or those that are asked for",
      api::schema_of<api::TrialPage>},
     trials_query,
     true,
     Reach::usual,
     {Lane::experiments, choices}},
    {"GET",
     "/api/v1/experiments/{experiment}/trials/{trial}",
     Role::viewer,
     &trial,
     {"show_trial", "trials", "Describes a trial", api::schema_of<api::Trial>}},
    {"POST",
     "/api/v1/experiments/{experiment}/trials/{trial}/cancel",
     Role::submit,
     &cancel_trial,
     {"cancel_trial", "trials", "Cancels a trial", api::schema_of<api::Trial>}},
    {"POST",
     "/api/v1/experiments/{experiment}/trials/{trial}/stop",
     Role::submit,
     &stop_trial,
     {"stop_trial", "trials", "Stops a trial and keeps its result", api::schema_of<api::Trial>}},
    {"POST",
     "/api/v1/experiments/{experiment}/trials/{trial}/retry",
     Role::submit,
     &retry_trial,
     {"retry_trial", "trials", "Tries a failed trial once more", api::schema_of<api::Trial>}},
    {"GET",
     "/api/v1/experiments/{experiment}/trials/{trial}/explain",
     Role::viewer,
     &explain,
     {"explain_trial", "trials", "Explains why a trial is where it is", api::schema_of<api::Explanation>}},
    {"GET",
     "/api/v1/experiments/{experiment}/trials/{trial}/metrics",
     Role::viewer,
     &metrics,
     {"list_trial_metrics", "trials", "Lists reported metrics of a trial", api::schema_of<api::MetricPage>},
     after_query},
};

}  // namespace

std::span<const Route> trial_routes() noexcept {
  return trial_table;
}

}  // namespace hpsearch::daemon
