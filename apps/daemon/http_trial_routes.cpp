#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/http_pages.hpp"
#include "daemon/http_request_context.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/client_api.hpp"
#include "hpsearch/proto/json.hpp"
#include "hpsearch/proto/stored.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::ExperimentId;
using engine::Result;
using engine::TrialNumber;
using engine::Value;
using net::HttpResponse;

/// A page of metrics ends when it has so many: the store takes in no reports while it is read.
constexpr std::size_t enough_numbers = 5'000;
constexpr std::uint64_t most_log_bytes = 128 * 1024;

/// The trial, and what is known of it beyond the log.
Value trial_now(RequestContext& context, const engine::ExperimentRecord& record, TrialNumber number) {
  Value value = proto::trial_value(record, number, context.runtime.now());
  const auto& live = record.trials[number.number()].live;
  const auto heard = live ? context.sessions.last_activity_of(live->worker, live->key) : std::nullopt;
  Value::Map& map = *value.as_map();
  map["heard_at"] = heard ? Value(static_cast<double>(heard->at.micros()) / 1e6) : Value();
  map["heard_step"] = heard ? integer(engine::count(heard->step)) : Value();
  return value;
}

void trials(RequestContext& context, Call call) {
  answer_page(context, call,
              {"trials", [&context](const engine::ExperimentRecord& record, TrialNumber number) {
                 return Value::List{trial_now(context, record, number)};
               }});
}

void trial(RequestContext& context, Call call) {
  const auto record = context.experiment_with_trial(call);
  context.answer(call, record ? Result<Value>(trial_now(context, **record, call.trial())) : record.error());
}

Value checkpoints_now(const engine::ExperimentRecord& record, TrialNumber number) {
  return Value::Map{{"checkpoints", proto::checkpoints_of(record, number)}};
}

void checkpoints(RequestContext& context, Call call) {
  const auto record = context.experiment_with_trial(call);
  context.answer(call, record ? Result<Value>(checkpoints_now(**record, call.trial())) : record.error());
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
    return with(200, checkpoints_now(*context.runtime.engine().find(id), trial));
  });
}

void end_trial(RequestContext& context, const Call& call, engine::ExitReason reason) {
  context.perform(call, engine::EndTrial{call.experiment(), call.trial(), reason}, [&context, call] {
    return with(200, trial_now(context, *context.runtime.engine().find(call.experiment()), call.trial()));
  });
}

void cancel_trial(RequestContext& context, Call call) {
  end_trial(context, call, engine::ExitReason::user_canceled);
}

void stop_trial(RequestContext& context, Call call) {
  end_trial(context, call, engine::ExitReason::user_stopped);
}

void explain(RequestContext& context, Call call) {
  const auto record = context.experiment_with_trial(call);
  if (!record) {
    context.answer(call, failure(record.error()));
    return;
  }
  // The engine's view of now and the store's of the past are both of this moment: what is committed after it
  // is in neither.
  const engine::Explanation explanation =
      engine::explain(**record, call.trial(), context.runtime.engine().workers(), context.runtime.now());
  const Value now = proto::explanation_value(**record, call.trial(), explanation, {});
  context.read(call,
               [reply = call.reply, now, id = call.experiment(),
                number = call.trial()](EventStore& store) -> Committer::Then {
                 const auto events = store.history(id, number);
                 if (!events) {
                   return [reply, error = events.error()] { reply(failure(error)); };
                 }
                 Value::List history;
                 for (const engine::Event& event : *events) {
                   history.push_back(proto::to_value(event));
                 }
                 Value answer = now;
                 (*answer.as_map())["history"] = std::move(history);
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
  if (!record || !after) {
    context.answer(call, failure(record ? after.error() : record.error()));
    return;
  }
  context.read(call,
               [reply = call.reply, id = call.experiment(), number = call.trial(),
                position = *after](EventStore& store) -> Committer::Then {
                 const auto points = store.metrics(id, number, position, enough_numbers);
                 if (!points) {
                   return [reply, error = points.error()] { reply(failure(error)); };
                 }
                 Value::List list;
                 std::size_t numbers = 0;
                 for (const MetricPoint& point : *points) {
                   Value::Map metrics;
                   for (const auto& [name, value] : point.metrics) {
                     metrics[name] = value;
                   }
                   numbers += point.metrics.size();
                   list.emplace_back(Value::Map{{"attempt", integer(point.attempt.number())},
                                                {"step", integer(engine::count(point.step))},
                                                {"metrics", std::move(metrics)}});
                 }
                 const Value next = numbers < enough_numbers
                                        ? Value()
                                        : Value(std::to_string(points->back().attempt.number()) + "." +
                                                std::to_string(points->back().seq));
                 HttpResponse response = with(200, Value::Map{{"metrics", std::move(list)}, {"next", next}});
                 return [reply, response = std::move(response)] { reply(response); };
               });
}

/// Where an attempt ran or runs: whom to ask for its logs.
struct AttemptPlaces {
  engine::AttemptKey key;
  std::vector<engine::Place> nodes;  ///< By rank; never none.
};

/// `attempt` 0: the last one.
Result<AttemptPlaces> places_of(EventStore& store, const engine::Numbering& numbering,
                                ExperimentId experiment, TrialNumber trial, std::uint64_t attempt) {
  const auto events = store.history(experiment, trial);
  if (!events) {
    return events.error();
  }
  std::optional<AttemptPlaces> places;
  for (const engine::Event& event : *events) {
    const auto* granted = std::get_if<engine::LeaseGranted>(&event.body);
    const auto* adopted = std::get_if<engine::AttemptAdopted>(&event.body);
    if (adopted != nullptr && (attempt == 0 || adopted->key.attempt.number() == attempt)) {
      places = AttemptPlaces{adopted->key, {{adopted->worker, adopted->slots}}};
    }
    if (granted != nullptr && (attempt == 0 || granted->attempt.number() == attempt)) {
      places = AttemptPlaces{{experiment, trial, granted->attempt, numbering.lease_of(event.lsn)},
                             {{granted->worker, granted->slots}}};
      places->nodes.insert(places->nodes.end(), granted->others.begin(), granted->others.end());
    }
  }
  if (!places) {
    return Error{Errc::not_found,
                 "trial " + std::to_string(trial.number()) +
                     (attempt == 0 ? " has not run yet" : " has no attempt " + std::to_string(attempt))};
  }
  return *places;
}

/// Which process a question about logs means; no rank and no worker: the first.
struct WantedProcess {
  std::uint64_t rank = 0;
  std::uint64_t worker = 0;  ///< The first on that worker, whatever its rank; 0 = by rank.
};

/// Puts the worker and its process into the question.
engine::Status ask_for(const AttemptPlaces& places, jobs::RankLevel level, const WantedProcess& wanted,
                       WorkerSessions::LogQuestion& question) {
  question.key = places.key;
  const std::string attempt = "attempt " + std::to_string(places.key.attempt.number());
  if (wanted.worker != 0) {
    question.worker = engine::WorkerId(wanted.worker);
    const bool there =
        std::any_of(places.nodes.begin(), places.nodes.end(),
                    [&question](const engine::Place& node) { return node.worker == question.worker; });
    return there
               ? engine::Status(engine::Done{})
               : Error{Errc::not_found, attempt + " had nothing on worker " + std::to_string(wanted.worker)};
  }
  const std::uint64_t on_each =
      level == jobs::RankLevel::process ? std::max<std::uint64_t>(places.nodes.front().slots.size(), 1) : 1;
  const std::uint64_t ranks = on_each * places.nodes.size();
  if (wanted.rank >= ranks) {
    return Error{Errc::not_found,
                 attempt + " has " +
                     (ranks == 1 ? "rank 0 only" : "ranks 0 to " + std::to_string(ranks - 1)) + ", no rank " +
                     std::to_string(wanted.rank)};
  }
  question.worker = places.nodes[wanted.rank / on_each].worker;
  question.process = wanted.rank % on_each;
  return engine::Done{};
}

void read_log(RequestContext& context, const Call& call, const WorkerSessions::LogQuestion& question) {
  context.sessions.read_log(
      question, [&context, call, shown = question.key.attempt](const Result<proto::LogPart>& part) {
        if (!part) {
          context.answer(call, failure(part.error()));
        } else if (!part->problem.empty()) {
          context.answer(call, failure(Error{Errc::not_found, part->problem}));
        } else {
          context.answer(call, with(200, Value::Map{{"attempt", integer(shown.number())},
                                                    {"offset", integer(part->offset)},
                                                    {"size", integer(part->size)},
                                                    {"text", part->text}}));
        }
      });
}

void log(RequestContext& context, Call call) {
  const auto record = context.experiment_with_trial(call);
  const auto attempt = number_of(call.request, "attempt", 0);
  const auto offset = number_of(call.request, "offset", 0);
  const auto limit = number_of(call.request, "limit", 64 * 1024);
  const auto rank = number_of(call.request, "rank", 0);
  const auto worker = number_of(call.request, "worker", 0);
  if (!record) {
    context.answer(call, failure(record.error()));
    return;
  }
  for (const auto* number : {&attempt, &offset, &limit, &rank, &worker}) {
    if (!*number) {
      call.reply(failure(number->error()));
      return;
    }
  }
  WorkerSessions::LogQuestion question;
  question.stream = call.request.query_or("stream", "stdout");
  if (question.stream != "stdout" && question.stream != "stderr") {
    call.reply(failure(Error{Errc::bad_request, "stream has to be stdout or stderr"}));
    return;
  }
  question.offset = *offset;
  question.limit = std::min(*limit, most_log_bytes);
  const std::string_view from_end = call.request.query_or("from_end", "0");
  question.from_end = from_end == "1" || from_end == "true";
  const WantedProcess wanted{*rank, *worker};
  const auto program = jobs::read_program((*record)->effective, (*record)->config.space);
  if (!program) {
    call.reply(failure(program.error()));
    return;
  }
  context.read(
      call,
      [&context, call, question, wanted, number = *attempt, numbering = context.runtime.engine().numbering(),
       level = program->launch.rank](EventStore& store) -> Committer::Then {
        const auto places = places_of(store, numbering, call.experiment(), call.trial(), number);
        WorkerSessions::LogQuestion asked = question;
        const engine::Status found =
            places ? ask_for(*places, level, wanted, asked) : engine::Status(places.error());
        return [&context, call, asked, found] {
          if (found) {
            read_log(context, call, asked);
          } else {
            call.reply(failure(found.error()));
          }
        };
      });
}

constexpr std::string_view log_query[] = {"attempt", "offset", "limit",   "rank",
                                          "worker",  "stream", "from_end"};

constexpr std::string_view after_query[] = {"after"};

constexpr Route table[] = {
    {"GET", "/api/v1/experiments/#/trials/#/checkpoints", Role::viewer, &checkpoints},
    {"POST", "/api/v1/experiments/#/trials/#/checkpoints/delete", Role::operate, &delete_checkpoints},
    {"GET", "/api/v1/experiments/#/trials", Role::viewer, &trials, page_query},
    {"GET", "/api/v1/experiments/#/trials/#", Role::viewer, &trial},
    {"POST", "/api/v1/experiments/#/trials/#/cancel", Role::operate, &cancel_trial},
    {"POST", "/api/v1/experiments/#/trials/#/stop", Role::operate, &stop_trial},
    {"GET", "/api/v1/experiments/#/trials/#/explain", Role::viewer, &explain},
    {"GET", "/api/v1/experiments/#/trials/#/metrics", Role::viewer, &metrics, after_query},
    {"GET", "/api/v1/experiments/#/trials/#/log", Role::viewer, &log, log_query},
};

}  // namespace

std::span<const Route> trial_routes() noexcept {
  return table;
}

}  // namespace hpsearch::daemon
