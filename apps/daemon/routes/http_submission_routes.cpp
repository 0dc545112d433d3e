#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/http/http_request_context.hpp"
#include "daemon/http/http_submission.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/config/search_doubts.hpp"
#include "hpsearch/engine/experiment/warm_start.hpp"
#include "hpsearch/engine/experiment/workspace.hpp"
#include "hpsearch/jobs/fields/secrets.hpp"
#include "hpsearch/proto/api/experiments.hpp"
#include "hpsearch/proto/api/preview.hpp"
#include "hpsearch/proto/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

/// Why the caller may not submit this into its workspace, or start from a checkpoint of another workspace.
std::optional<HttpResponse> out_of_scope(const RequestContext& request_context, const Caller& caller,
                                         const engine::ExperimentConfig& config) {
  const std::string workspace(engine::workspace_of(config));
  if (!caller.scope.has(workspace)) {
    return refusal(403, caller.name + " may submit to " + caller.scope.text() +
                            (config.workspace.empty()
                                 ? ", and an experiment that names no workspace goes to " + workspace
                                 : ", not to workspace " + workspace));
  }
  engine::Problems problems;
  const auto& experiments = request_context.runtime.engine().experiments();
  const auto source = engine::find_source(experiments, config.searcher, problems);
  if (source && !may_see(caller, experiments.at(source->experiment))) {
    return failure(no_experiment(source->experiment));
  }
  return std::nullopt;
}

/// An Idempotency-Key as the log stores it. The same key of another client or workspace is another one.
std::string stored_submission_key(const Caller& caller, const engine::ExperimentConfig& config,
                                  const std::string& key) {
  return key.empty() ? "" : key_owner(caller) + "/" + std::string(engine::workspace_of(config)) + "/" + key;
}

/// The error with the key as the client gave it.
Error with_given_key(Error error, const std::string& stored, const std::string& given) {
  if (const std::size_t at = stored.empty() ? std::string::npos : error.message.find(stored);
      at != std::string::npos) {
    error.message.replace(at, stored.size(), given);
  }
  return error;
}

/// Creates the experiment, or answers why it can't be created now.
void create(RequestContext& request_context, CheckedSubmission checked, const std::string& key,
            const Caller& caller, const net::HttpServer::Reply& reply) {
  if (checked.refusal) {
    reply(*std::move(checked.refusal));
    return;
  }
  if (request_context.runtime.storage().intake != Intake::everything) {
    reply(no_room(request_context.runtime.storage()));
    return;
  }
  if (auto refused = out_of_scope(request_context, caller, *checked.parsed.config)) {
    reply(*std::move(refused));
    return;
  }
  const Result<std::uint64_t> bytes = checked.context_digest.empty()
                                          ? Result<std::uint64_t>(0)
                                          : context_bytes(request_context, caller, checked.context_digest);
  if (!bytes) {
    reply(failure(bytes.error()));
    return;
  }
  engine::CreateExperiment command;
  const engine::SearcherConfig searcher = checked.parsed.config->searcher;
  command.parsed = std::move(checked.parsed);
  command.context_directory = std::move(checked.context_directory);
  command.context_digest = std::move(checked.context_digest);
  command.context_bytes = *bytes;
  const std::string stored_key = stored_submission_key(caller, *command.parsed->config, key);
  command.idempotency_key = stored_key;
  command.owner = std::move(checked.owner);
  command.unix_user = std::move(checked.unix_user);
  command.file = std::move(checked.file);
  command.git = std::move(checked.git);
  const auto& all = request_context.runtime.engine().experiments();
  const engine::ExperimentId newest = all.empty() ? engine::ExperimentId() : all.rbegin()->first;
  request_context.perform(command, [&runtime = request_context.runtime,
                                    contexts = request_context.about.contexts,
                                    digest = command.context_digest, reply, searcher, newest, stored_key, key,
                                    note = std::move(checked.note)](const Result<Runtime::Outcome>& outcome) {
    engine::Problems source;  // Only for their places in the file.
    if (!outcome) {
      static_cast<void>(engine::find_source(runtime.engine().experiments(), searcher, source).has_value());
    }
    if (outcome) {
      if (contexts != nullptr) {
        contexts->note_use(digest);
      }
      HttpResponse response = with(201, api::CreatedExperiment{*outcome->created, note});
      if (*outcome->created <= newest) {
        response.headers.emplace_back("Idempotent-Replay", "true");
      }
      reply(std::move(response));
      return;
    }
    reply(source.empty() ? failure(with_given_key(outcome.error(), stored_key, key))
                         : failure("the configuration is wrong", source));
  });
}

void submit(RequestContext& request_context, Call call) {
  if (request_context.runtime.storage().intake != Intake::everything) {
    call.reply(no_room(request_context.runtime.storage()));
    return;
  }
  if (const engine::Status good = AnsweredRequests::check_key(call.request); !good) {
    call.reply(failure(good.error()));
    return;
  }
  std::string key(call.request.header("Idempotency-Key"));
  // Beside the loop: a large configuration takes long to check, and reports must not wait for that.
  request_context.about.checks->run(
      [&request_context, registry = request_context.runtime.registry(),
       secrets = request_context.about.secrets,
       text = SubmissionText{std::move(call.request.body), is_yaml(call.request)}, key = std::move(key),
       caller = std::move(call.caller), reply = std::move(call.reply),
       leave_lane = std::move(call.leave_lane)]() -> net::Background::Afterwards {
        auto checked = std::make_shared<CheckedSubmission>(check_submission(text, registry, secrets));
        checked->owner = owner_name(caller);
        checked->unix_user = unix_user_of(caller);
        return [&request_context, checked, key, caller, reply, leave_lane] {
          leave_lane();  // The disk may be full: checks of other clients must not wait for it.
          create(request_context, std::move(*checked), key, caller, reply);
        };
      });
}

/// Examines the body beside the loop, and answers with the result of `answer_to`.
void examine(RequestContext& request_context, Call call,
             HttpResponse (*answer_to)(const ExaminedSubmission&)) {
  request_context.about.checks->run(
      [registry = request_context.runtime.registry(),
       text = SubmissionText{std::move(call.request.body), is_yaml(call.request)},
       reply = std::move(call.reply), answer_to]() -> net::Background::Afterwards {
        const ExaminedSubmission examined = examine_submission(text, registry);
        HttpResponse response = examined.refusal ? *examined.refusal : answer_to(examined);
        return [reply, response = std::move(response)] { reply(response); };
      });
}

void validate(RequestContext& request_context, Call call) {
  examine(request_context, std::move(call), [](const ExaminedSubmission& examined) {
    const bool valid = examined.problems.empty() && examined.parsed.config.has_value();
    const std::vector<std::string> to_confirm =
        valid ? engine::doubts_to_confirm(*examined.parsed.config) : std::vector<std::string>();
    return with(200,
                Value::Map{{"valid", valid},
                           {"problems", problem_items(examined.problems)},
                           {"notes", problem_items(examined.notes)},
                           {"to_confirm", Value::List(to_confirm.begin(), to_confirm.end())},
                           {"config", valid ? jobs::without_secrets(engine::to_value(*examined.parsed.config))
                                            : Value()}});
  });
}

void preview(RequestContext& request_context, Call call) {
  examine(request_context, std::move(call), [](const ExaminedSubmission& examined) {
    if (!examined.problems.empty() || !examined.parsed.config) {
      return failure("the configuration is wrong", examined.problems);
    }
    const engine::ExperimentConfig& config = *examined.parsed.config;
    const engine::SearcherKind* kind = engine::find_kind(examined.registry, config.searcher.name);
    HPSEARCH_CHECK(kind != nullptr, "a configuration without problems names a searcher of the registry");
    HttpResponse response;
    response.body = proto::to_json(kind->preview(config)) + "\n";
    return response;
  });
}

constexpr Route submission_table[] = {
    {"POST",
     "/api/v1/experiments",
     Role::submit,
     &submit,
     {"create_experiment", "experiments", "Creates an experiment", api::schema_of<api::CreatedExperiment>,
      api::schema_of<api::Submission>, 201, "", "", true},
     {},
     false,
     Reach::usual,
     {Lane::checks}},
    {"POST",
     "/api/v1/experiments/validate",
     Role::submit,
     &validate,
     {"validate_experiment", "experiments", "Checks an experiment without creating it",
      api::schema_of<api::Validation>, api::schema_of<api::Submission>, 200, "", "", true},
     {},
     false,
     Reach::usual,
     {Lane::checks}},
    {"POST",
     "/api/v1/experiments/preview",
     Role::submit,
     &preview,
     {"preview_experiment", "experiments", "Estimates what an experiment costs without creating it",
      api::schema_of<api::Preview>, api::schema_of<api::Submission>, 200, "", "", true},
     {},
     false,
     Reach::usual,
     {Lane::checks}},
    {"POST",
     "/api/v1/preview",
     Role::submit,
     &preview,
     {"preview", "experiments", "The same as preview_experiment", api::schema_of<api::Preview>,
      api::schema_of<api::Submission>, 200, "", "", true},
     {},
     false,
     Reach::usual,
     {Lane::checks}},
};

}  // namespace

std::span<const Route> submission_routes() noexcept {
  return submission_table;
}

}  // namespace hpsearch::daemon
