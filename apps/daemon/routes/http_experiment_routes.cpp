#include <string>
#include <utility>
#include <variant>

#include "daemon/http/http_pages.hpp"
#include "daemon/http/http_request_context.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"
#include "hpsearch/jobs/fields/secrets.hpp"
#include "hpsearch/proto/api/experiments.hpp"
#include "hpsearch/proto/api/schema.hpp"
#include "hpsearch/proto/api/trials.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/sentences/wait.hpp"

namespace hpsearch::daemon {
namespace {

void show(RequestContext& request_context, Call call) {
  const auto record = request_context.experiment(call);
  if (!record) {
    request_context.answer(call, failure(record.error()));
    return;
  }
  HttpResponse response = with(200, detail_now(request_context, **record, call.language()));
  response.headers.emplace_back("ETag", tag_of(request_context, call.experiment()));
  request_context.answer(call, std::move(response));
}

/// Returns the body with which POST /experiments creates the same experiment again. It contains no secrets.
void fork(RequestContext& request_context, Call call) {
  const auto record = request_context.experiment(call);
  if (!record) {
    request_context.answer(call, failure(record.error()));
    return;
  }
  const api::Fork fork{*jobs::without_secrets((*record)->effective).as_map(), (*record)->config.name,
                       (*record)->context_directory, (*record)->context_digest};
  request_context.answer(call, with(200, fork));
}

void config(RequestContext& request_context, Call call) {
  const auto record = request_context.experiment(call);
  request_context.answer(
      call, record ? Result<Value>(jobs::without_secrets((*record)->effective)) : record.error());
}

/// The file is not in memory: it is read from the event that created the experiment.
void file(RequestContext& request_context, Call call) {
  const auto record = request_context.experiment(call);
  if (!record) {
    request_context.answer(call, failure(record.error()));
    return;
  }
  request_context.when_durable(call, [&request_context, call, event = (*record)->created_by] {
    request_context.read(
        call, [reply = call.reply, id = call.experiment(), event](EventStore& store) -> Committer::Then {
          const auto events = store.read(engine::Lsn(event.number() - 1), 1);
          if (!events) {
            return [reply, error = events.error()] { reply(failure(error)); };
          }
          const auto* created =
              events->empty() ? nullptr : std::get_if<engine::ExperimentCreated>(&events->front().body);
          HttpResponse response =
              created != nullptr && created->file
                  ? with(200, api::SubmittedFile{created->file->name, created->file->text})
                  : failure(
                        Error{Errc::not_found, "experiment " + std::to_string(id.number()) +
                                                   " was submitted without its file, or with one that could "
                                                   "not be kept"});
          return [reply, response = std::move(response)] { reply(response); };
        });
  });
}

void best(RequestContext& request_context, Call call) {
  const auto record = request_context.experiment(call);
  request_context.answer(call, record ? Result<Value>(proto::encode_value(api::best_trial(
                                            **record, request_context.runtime.now(), call.language())))
                                      : record.error());
}

void model(RequestContext& request_context, Call call) {
  const auto record = request_context.experiment(call);
  request_context.answer(
      call, record ? Result<Value>(proto::encode_value(api::model_of(**record))) : record.error());
}

void checkpoints(RequestContext& request_context, Call call) {
  answer_page(request_context, call,
              {"checkpoints", &api::count_of_checkpoints,
               [](const engine::ExperimentRecord& record, engine::TrialNumber trial, std::size_t place) {
                 return proto::encode_value(api::checkpoint_of(record, trial, place));
               }},
              [](const engine::ExperimentRecord& record) {
                return Value::Map{{"being_deleted", integer(record.condemned.size())}};
              });
}

constexpr Route experiment_table[] = {
    {"GET",
     "/api/v1/experiments/{experiment}",
     Role::viewer,
     &show,
     {"show_experiment", "experiments", "Describes an experiment", api::schema_of<api::Experiment>}},
    {"POST",
     "/api/v1/experiments/{experiment}/fork",
     Role::submit,
     &fork,
     {"fork_experiment", "experiments", "Answers the submission that creates the same experiment again",
      api::schema_of<api::Fork>},
     {},
     false,
     Reach::any_experiment},
    {"GET",
     "/api/v1/experiments/{experiment}/config",
     Role::viewer,
     &config,
     {"show_config", "experiments", "Answers the experiment file with all defaults",
      api::schema_of<engine::Value::Map>}},
    {"GET",
     "/api/v1/experiments/{experiment}/file",
     Role::viewer,
     &file,
     {"show_file", "experiments", "Answers the experiment file as its user wrote it",
      api::schema_of<api::SubmittedFile>}},
    {"GET",
     "/api/v1/experiments/{experiment}/best",
     Role::viewer,
     &best,
     {"show_best", "experiments", "Describes the best trial", api::schema_of<std::optional<api::Trial>>}},
    {"GET",
     "/api/v1/experiments/{experiment}/model",
     Role::viewer,
     &model,
     {"show_model", "experiments", "Describes what the model of the search has learnt",
      api::schema_of<std::optional<api::Model>>}},
    {"GET",
     "/api/v1/experiments/{experiment}/checkpoints",
     Role::viewer,
     &checkpoints,
     {"list_checkpoints", "experiments", "Lists checkpoints of all trials",
      api::schema_of<api::CheckpointPage>},
     place_page_query},
};

}  // namespace

std::string tag_of(const RequestContext& request_context, engine::ExperimentId experiment) {
  return "\"lsn-" + std::to_string(request_context.runtime.last_change_of(experiment).number()) + "\"";
}

std::string waits_for(const RequestContext& request_context, const engine::ExperimentRecord& record,
                      Language language) {
  return sentences::why_experiment_waits(
      engine::waits_for(record, request_context.runtime.engine().workers(), request_context.runtime.now()),
      language);
}

Value summary_now(const RequestContext& request_context, const engine::ExperimentRecord& record,
                  Language language) {
  api::ExperimentSummary summary = api::summary_of(record, language);
  summary.waits_for = waits_for(request_context, record, language);
  return proto::encode_value(summary);
}

Value detail_now(const RequestContext& request_context, const engine::ExperimentRecord& record,
                 Language language) {
  api::Experiment detail = api::detail_of(record, request_context.runtime.now(), language);
  detail.waits_for = waits_for(request_context, record, language);
  return proto::encode_value(detail);
}

std::span<const Route> experiment_routes() noexcept {
  return experiment_table;
}

}  // namespace hpsearch::daemon
