#include <string>
#include <utility>
#include <vector>

#include "daemon/http/http_request_context.hpp"
#include "hpsearch/proto/api/experiments.hpp"
#include "hpsearch/proto/api/schema.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::size_t most_changed_files = 100;
constexpr std::size_t most_file_name_bytes = 4096;

void change(RequestContext& request_context, const Call& call, engine::Command command) {
  request_context.perform(
      call, std::move(command), [&request_context, id = call.experiment(), language = call.language()] {
        const engine::ExperimentRecord* record = request_context.runtime.engine().find(id);
        return record != nullptr ? with(200, api::summary_of(*record, language))
                                 : failure(request_context.runtime.engine().no_experiment(id));
      });
}

void pause(RequestContext& request_context, Call call) {
  change(request_context, call, engine::PauseExperiment{call.experiment()});
}

void resume(RequestContext& request_context, Call call) {
  change(request_context, call, engine::ResumeExperiment{call.experiment()});
}

void cancel(RequestContext& request_context, Call call) {
  change(request_context, call, engine::CancelExperiment{call.experiment()});
}

void kill(RequestContext& request_context, Call call) {
  change(request_context, call, engine::KillExperiment{call.experiment()});
}

void archive(RequestContext& request_context, Call call) {
  change(request_context, call, engine::ArchiveExperiment{call.experiment()});
}

void unarchive(RequestContext& request_context, Call call) {
  change(request_context, call, engine::UnarchiveExperiment{call.experiment()});
}

/// Files beside the store are removed after the answer.
void remove(RequestContext& request_context, Call call) {
  request_context.perform(call, engine::DeleteExperiment{call.experiment()},
                          [id = call.experiment()] { return with(202, api::DeletedExperiment{id}); });
}

void set_limits(RequestContext& request_context, Call call) {
  auto changes = call.object();
  if (!changes) {
    call.reply(failure(changes.error()));
    return;
  }
  const std::string_view expected = call.request.header("If-Match");
  if (const std::string tag = tag_of(request_context, call.experiment());
      !call.is_done && !expected.empty() && expected != "*" && expected != tag &&
      request_context.experiment(call)) {
    HttpResponse response =
        failure(412, Error{Errc::wrong_state, "experiment " + std::to_string(call.experiment().number()) +
                                                  " has changed since: it is at " + tag + ", not " +
                                                  std::string(expected)});
    response.headers.emplace_back("ETag", tag);
    request_context.answer(call, std::move(response));
    return;
  }
  engine::ChangeExperiment command{call.experiment(), std::move(*changes)};
  if (!call.is_done && request_context.experiment(call)) {
    if (const engine::Problems wrong = request_context.runtime.engine().problems_of(command);
        !wrong.empty()) {
      request_context.answer(call,
                             failure("the limits are wrong; nothing was changed", wrong, ProblemsIn::body));
      return;
    }
  }
  change(request_context, call, std::move(command));
}

Result<std::vector<std::string>> changed_files(const Value& value) {
  const Error wrong{Errc::bad_request, "changed has to be a list of at most " +
                                           std::to_string(most_changed_files) + " names of files"};
  const Value::List* list = value.as_list();
  if (list == nullptr || list->size() > most_changed_files) {
    return wrong;
  }
  std::vector<std::string> files;
  for (const Value& file : *list) {
    if (file.as_text() == nullptr || file.as_text()->size() > most_file_name_bytes) {
      return wrong;
    }
    files.push_back(*file.as_text());
  }
  return files;
}

/// {"context_digest": …, "changed": ["train.py"]}
Result<engine::ChangeProgram> read_program(engine::ExperimentId experiment, const Value::Map& body) {
  engine::ChangeProgram command{experiment};
  for (const auto& [key, value] : body) {
    if (key == "context_digest") {
      if (value.as_text() == nullptr) {
        return Error{Errc::bad_request, "context_digest has to be a text"};
      }
      command.context_digest = *value.as_text();
    } else if (key == "changed") {
      auto files = changed_files(value);
      if (!files) {
        return files.error();
      }
      command.changed = *std::move(files);
    } else {
      return Error{Errc::bad_request, key + " is unknown (context_digest, changed)"};
    }
  }
  return command;
}

/// Changes the program of trials that have reported nothing yet.
void change_program(RequestContext& request_context, Call call) {
  // Its programs run as the submitter's user: no other user may change their code. The owner of the daemon
  // could do so anyway.
  const engine::ExperimentRecord* record = request_context.runtime.engine().find(call.experiment());
  if (record != nullptr && !record->unix_user.empty() && !call.caller.is_local &&
      unix_user_of(call.caller) != record->unix_user) {
    call.reply(refusal(403, "experiment " + std::to_string(record->id.number()) + " runs as the Unix user " +
                                record->unix_user + ", and " + call.caller.name +
                                " may not change its program; only a token with --unix-user " +
                                record->unix_user + " may"));
    return;
  }
  const auto body = call.object();
  if (!body) {
    call.reply(failure(body.error()));
    return;
  }
  auto command = read_program(call.experiment(), *body->as_map());
  if (!command) {
    call.reply(failure(command.error()));
    return;
  }
  if (!command->context_digest.empty()) {
    const auto bytes = context_bytes(request_context, call.caller, command->context_digest);
    if (!bytes) {
      call.reply(failure(bytes.error()));
      return;
    }
    command->context_bytes = *bytes;
  }
  change(request_context, call, *std::move(command));
}

constexpr Route experiment_change_table[] = {
    {"PATCH",
     "/api/v1/experiments/{experiment}",
     Role::submit,
     &set_limits,
     {"change_experiment", "experiments", "Changes limits of an experiment",
      api::schema_of<api::ExperimentSummary>, api::schema_of<api::LimitChanges>}},
    {"POST",
     "/api/v1/experiments/{experiment}/program",
     Role::submit,
     &change_program,
     {"change_program", "experiments", "Changes the program of trials that have reported nothing yet",
      api::schema_of<api::ExperimentSummary>, api::schema_of<api::ProgramRequest>}},
    {"POST",
     "/api/v1/experiments/{experiment}/pause",
     Role::submit,
     &pause,
     {"pause_experiment", "experiments", "Pauses an experiment", api::schema_of<api::ExperimentSummary>}},
    {"POST",
     "/api/v1/experiments/{experiment}/resume",
     Role::submit,
     &resume,
     {"resume_experiment", "experiments", "Resumes a paused experiment",
      api::schema_of<api::ExperimentSummary>}},
    {"POST",
     "/api/v1/experiments/{experiment}/cancel",
     Role::submit,
     &cancel,
     {"cancel_experiment", "experiments", "Cancels an experiment", api::schema_of<api::ExperimentSummary>}},
    {"POST",
     "/api/v1/experiments/{experiment}/kill",
     Role::submit,
     &kill,
     {"kill_experiment", "experiments", "Ends an experiment and its programs at once",
      api::schema_of<api::ExperimentSummary>}},
    {"POST",
     "/api/v1/experiments/{experiment}/archive",
     Role::submit,
     &archive,
     {"archive_experiment", "experiments", "Hides an experiment that has ended from lists",
      api::schema_of<api::ExperimentSummary>}},
    {"POST",
     "/api/v1/experiments/{experiment}/unarchive",
     Role::submit,
     &unarchive,
     {"unarchive_experiment", "experiments", "Shows an archived experiment in lists again",
      api::schema_of<api::ExperimentSummary>}},
    {"DELETE",
     "/api/v1/experiments/{experiment}",
     Role::admin,
     &remove,
     {"delete_experiment", "experiments",
      "Deletes an experiment that has ended, with its checkpoints, logs and files",
      api::schema_of<api::DeletedExperiment>, nullptr, 202}},
};

}  // namespace

std::span<const Route> experiment_change_routes() noexcept {
  return experiment_change_table;
}

}  // namespace hpsearch::daemon
