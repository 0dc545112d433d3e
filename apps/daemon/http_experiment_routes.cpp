#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/http_pages.hpp"
#include "daemon/http_request_context.hpp"
#include "daemon/http_submission.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/experiment/warm_start.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"
#include "hpsearch/jobs/secrets.hpp"
#include "hpsearch/proto/client_api.hpp"
#include "hpsearch/queries/page_cursor.hpp"
#include "hpsearch/sentences/wait.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Value;
using net::HttpResponse;

constexpr std::uint64_t most_listed = 500;
constexpr std::size_t enough_listed = std::size_t{128} << 10;  // Bytes of a page.
constexpr std::size_t most_changed_files = 100;
constexpr std::size_t most_file_name_bytes = 4096;

Error no_context(const std::string& digest) {
  return {Errc::wrong_state,
          "the daemon does not have the context " + digest + "; PUT it to /api/v1/contexts/ first"};
}

/// Why the caller may not submit this, as far as workspaces are concerned: the one it is for, and that of the
/// checkpoint it starts from.
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

/// Creates the experiment, or tells what prevents it now.
void create(RequestContext& request_context, CheckedSubmission checked, std::string key, const Caller& caller,
            const net::HttpServer::Reply& reply) {
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
  std::uint64_t context_bytes = 0;
  if (!checked.context_digest.empty()) {
    const auto known = request_context.about.contexts != nullptr
                           ? request_context.about.contexts->find(checked.context_digest)
                           : std::nullopt;
    if (!known) {
      reply(failure(no_context(checked.context_digest)));
      return;
    }
    context_bytes = *known;
  }
  engine::CreateExperiment command;
  const engine::SearcherConfig searcher = checked.parsed.config->searcher;
  command.parsed = std::move(checked.parsed);
  command.context_directory = std::move(checked.context_directory);
  command.context_digest = std::move(checked.context_digest);
  command.context_bytes = context_bytes;
  command.idempotency_key = std::move(key);
  command.owner = std::move(checked.owner);
  const auto& all = request_context.runtime.engine().experiments();
  const engine::ExperimentId newest = all.empty() ? engine::ExperimentId() : all.rbegin()->first;
  request_context.perform(command, [&runtime = request_context.runtime, reply, searcher,
                                    newest](const Result<Runtime::Outcome>& outcome) {
    engine::Problems source;  // Again, for their places in the file.
    if (!outcome) {
      static_cast<void>(engine::find_source(runtime.engine().experiments(), searcher, source).has_value());
    }
    if (outcome) {
      HttpResponse response = with(201, Value::Map{{"experiment", integer(outcome->created->number())}});
      if (*outcome->created <= newest) {
        response.headers.emplace_back("Idempotent-Replay", "true");
      }
      reply(std::move(response));
      return;
    }
    reply(source.empty() ? failure(outcome.error()) : failure("the configuration is wrong", source));
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
       caller = std::move(call.caller), reply = std::move(call.reply)]() -> net::Background::Afterwards {
        auto checked = std::make_shared<CheckedSubmission>(check_submission(text, registry, secrets));
        checked->owner = owner_name(caller);
        return [&request_context, checked, key, caller, reply] {
          create(request_context, std::move(*checked), key, caller, reply);
        };
      });
}

/// Examines the body beside the loop, and answers what `answer_to` makes of it.
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
    return with(200,
                Value::Map{{"valid", valid},
                           {"problems", problem_items(examined.problems)},
                           {"notes", problem_items(examined.notes)},
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

constexpr std::string_view experiment_sorts[] = {"id",          "name",      "state",      "progress",
                                                 "best_metric", "trials",    "created_at", "ended_at",
                                                 "searcher",    "workspace", "project",    "owner"};

Value sort_key(const engine::ExperimentRecord& record, std::string_view name) {
  const auto seconds = [](engine::Instant at) { return Value(static_cast<double>(at.micros()) / 1e6); };
  if (name == "name") {
    return record.config.name;
  }
  if (name == "state") {
    return engine::name_of(record.state);
  }
  if (name == "progress") {
    return record.searcher->progress();
  }
  if (name == "best_metric") {
    return record.best ? Value(record.trials[record.best->number()].best->metric) : Value();
  }
  if (name == "trials") {
    return integer(record.trials.size());
  }
  if (name == "created_at") {
    return seconds(record.created_at);
  }
  if (name == "ended_at") {
    return engine::is_ended(record.state) ? seconds(record.ended_at) : Value();
  }
  if (name == "searcher") {
    return record.config.searcher.name;
  }
  return name == "workspace" ? Value(record.config.workspace)
         : name == "owner"   ? Value(record.owner)
         : name == "project" ? Value(record.config.project)
                             : integer(record.id.number());
}

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return small;
}

/// Whether the query wants those that are archived, or not, or both.
bool wants(const net::HttpRequest& request, bool archived) {
  const std::string_view wanted = request.query_or("archived", "false");
  return wanted == "all" || (wanted == "true") == archived;
}

bool is_one_of(std::string_view list, std::string_view name) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    if (list.substr(begin, comma - begin) == name) {
      return true;
    }
    begin = comma + 1;
  }
  return false;
}

/// Whether the query of the call asks for it.
bool is_asked_for(const net::HttpRequest& request, const engine::ExperimentRecord& record) {
  const engine::ExperimentConfig& config = record.config;
  const auto fits = [&request](std::string_view parameter, std::string_view value) {
    const std::string_view wanted = request.query_or(parameter, {});
    return wanted.empty() || wanted == value;
  };
  const std::string_view states = request.query_or("state", {});
  const std::string_view label = request.query_or("label", {});
  if (!wants(request, record.archived) ||
      !(states.empty() || is_one_of(states, engine::name_of(record.state))) ||
      !fits("workspace", config.workspace) || !fits("project", config.project) ||
      !fits("searcher", config.searcher.name) || !fits("owner", record.owner) ||
      !(label.empty() ||
        std::find(config.labels.begin(), config.labels.end(), label) != config.labels.end())) {
    return false;
  }
  const std::string words = in_small_letters(request.query_or("q", {}));
  const auto has_words = [&words](std::string_view text) {
    return in_small_letters(text).find(words) != std::string::npos;
  };
  return words.empty() || has_words(config.name) || has_words(config.description) ||
         std::any_of(config.labels.begin(), config.labels.end(), has_words);
}

/// Those that the query chooses, in its order. O(experiments · log experiments).
void list_chosen(RequestContext& request_context, const Call& call) {
  const std::string_view sort = call.request.query_or("sort", "id");
  const auto keys = queries::read_sort(sort);
  if (!keys) {
    request_context.answer(call, failure(keys.error()));
    return;
  }
  for (const queries::SortKey& key : *keys) {
    if (std::find(std::begin(experiment_sorts), std::end(experiment_sorts), key.name) ==
        std::end(experiment_sorts)) {
      const std::string near(engine::nearest(key.name, experiment_sorts));
      request_context.answer(
          call, failure(Error{
                    Errc::bad_request,
                    "sort: there is no \"" + key.name.substr(0, 100) + "\"" +
                        (near.empty() ? "; sort by name, created_at, progress, best_metric or another column"
                                      : "; did you mean \"" + near + "\"?")}));
      return;
    }
  }
  const std::string_view after = call.request.query_or("after", {});
  const bool by_number = call.request.query_or("sort", {}).empty();  // Then a cursor is a number.
  const auto number = number_of(call.request, by_number ? "after" : "", 0);
  const auto cursor = !number         ? Result<queries::PageCursor>(number.error())
                      : after.empty() ? Result<queries::PageCursor>(queries::PageCursor{})
                      : by_number
                          ? Result<queries::PageCursor>(queries::PageCursor{{integer(*number)}, *number})
                          : queries::PageCursor::read(after, keys->size());
  const auto limit = number_of(call.request, "limit", most_listed);
  if (!cursor || !limit) {
    request_context.answer(call, failure(cursor ? limit.error() : cursor.error()));
    return;
  }
  const queries::SortedPage order(*keys);
  const queries::SortedPage::Entry begin{cursor->keys, cursor->number};
  std::vector<queries::SortedPage::Entry> entries;
  for (const auto& [id, record] : request_context.runtime.engine().experiments()) {
    if (!may_see(call.caller, record) || !is_asked_for(call.request, record)) {
      continue;
    }
    queries::SortedPage::Entry entry{{}, id.number()};
    for (const queries::SortKey& key : *keys) {
      entry.keys.push_back(sort_key(record, key.name));
    }
    if (after.empty() || order.is_before(begin, entry)) {
      entries.push_back(std::move(entry));
    }
  }
  std::sort(entries.begin(), entries.end(),
            [&order](const auto& a, const auto& b) { return order.is_before(a, b); });
  std::string list;
  std::size_t shown = 0;
  for (; shown < entries.size() && shown < std::min<std::uint64_t>(*limit, most_listed) &&
         list.size() < enough_listed;
       ++shown) {
    const engine::ExperimentRecord& record =
        *request_context.runtime.engine().find(engine::ExperimentId(entries[shown].number));
    Value summary = proto::experiment_summary(record);
    (*summary.as_map())["waits_for"] = waits_for(request_context, record);
    list.append(list.empty() ? "" : ",").append(engine::compact_json(summary));
  }
  net::HttpResponse page;
  page.body = "{\"experiments\":[" + list + "],\"next\":";
  if (shown < entries.size() && shown > 0) {
    const queries::SortedPage::Entry& last = entries[shown - 1];
    page.body += by_number ? std::to_string(last.number)
                           : "\"" + queries::PageCursor{last.keys, last.number}.text() + "\"";
  } else {
    page.body += "null";
  }
  page.body += "}\n";
  request_context.answer(call, std::move(page));
}

void list(RequestContext& request_context, Call call) {
  for (const char* choice : {"state", "workspace", "project", "label", "searcher", "owner", "q", "sort"}) {
    if (!call.request.query_or(choice, {}).empty()) {
      list_chosen(request_context, call);
      return;
    }
  }
  auto page = NumberedPage::of(call, "experiments");
  if (!page) {
    request_context.answer(call, failure(page.error()));
    return;
  }
  const auto& experiments = request_context.runtime.engine().experiments();
  auto next = experiments.upper_bound(engine::ExperimentId(page->after()));
  const auto skip_unwanted = [&] {
    while (next != experiments.end() &&
           (!wants(call.request, next->second.archived) || !may_see(call.caller, next->second))) {
      ++next;
    }
  };
  for (skip_unwanted(); next != experiments.end() && page->takes_more(); skip_unwanted()) {
    page->add(next->first.number(), summary_now(request_context, next->second));
    ++next;
  }
  request_context.answer(call, page->answer(next != experiments.end()));
}

/// Of its state, limits and program.
std::string tag_of(const RequestContext& request_context, engine::ExperimentId experiment) {
  return "\"lsn-" + std::to_string(request_context.runtime.last_change_of(experiment).number()) + "\"";
}

void show(RequestContext& request_context, Call call) {
  const auto record = request_context.experiment(call);
  if (!record) {
    request_context.answer(call, failure(record.error()));
    return;
  }
  HttpResponse response = with(200, detail_now(request_context, **record));
  response.headers.emplace_back("ETag", tag_of(request_context, call.experiment()));
  request_context.answer(call, std::move(response));
}

/// What POST /experiments takes to create the same again. Secrets are not in it.
void fork(RequestContext& request_context, Call call) {
  const auto record = request_context.experiment(call);
  if (!record) {
    request_context.answer(call, failure(record.error()));
    return;
  }
  request_context.answer(call, with(200, Value::Map{{"config", jobs::without_secrets((*record)->effective)},
                                                    {"name", (*record)->config.name},
                                                    {"context_directory", (*record)->context_directory},
                                                    {"context_digest", (*record)->context_digest}}));
}

void config(RequestContext& request_context, Call call) {
  const auto record = request_context.experiment(call);
  request_context.answer(
      call, record ? Result<Value>(jobs::without_secrets((*record)->effective)) : record.error());
}

void best(RequestContext& request_context, Call call) {
  const auto record = request_context.experiment(call);
  request_context.answer(call, record
                                   ? Result<Value>(proto::best_trial(**record, request_context.runtime.now()))
                                   : record.error());
}

void model(RequestContext& request_context, Call call) {
  const auto record = request_context.experiment(call);
  request_context.answer(call, record ? Result<Value>(proto::model_value(**record)) : record.error());
}

void checkpoints(RequestContext& request_context, Call call) {
  answer_page(request_context, call, {"checkpoints", &proto::count_of_checkpoints, &proto::checkpoint_of},
              [](const engine::ExperimentRecord& record) {
                return Value::Map{{"being_deleted", integer(record.condemned.size())}};
              });
}

void change(RequestContext& request_context, const Call& call, engine::Command command) {
  request_context.perform(call, std::move(command), [&request_context, id = call.experiment()] {
    const engine::ExperimentRecord* record = request_context.runtime.engine().find(id);
    return record != nullptr ? with(200, proto::experiment_summary(*record))
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

/// What lies beside the store goes after the answer.
void remove(RequestContext& request_context, Call call) {
  request_context.perform(call, engine::DeleteExperiment{call.experiment()}, [id = call.experiment()] {
    return with(202, Value::Map{{"experiment", integer(id.number())}});
  });
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
  change(request_context, call, engine::ChangeExperiment{call.experiment(), std::move(*changes)});
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

/// What trials run that have reported nothing yet.
void change_program(RequestContext& request_context, Call call) {
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
    const auto known = request_context.about.contexts != nullptr
                           ? request_context.about.contexts->find(command->context_digest)
                           : std::nullopt;
    if (!known) {
      call.reply(failure(no_context(command->context_digest)));
      return;
    }
    command->context_bytes = *known;
  }
  change(request_context, call, *std::move(command));
}

constexpr std::string_view archived_choices[] = {"false", "true", "all"};
constexpr QueryParameter experiments_query[] = {
    {"archived", QueryParameter::Kind::choice,
     "true: only those that are archived; all: these too. Without it, those that are not.", 0, 0,
     archived_choices},
    {"state", QueryParameter::Kind::text, "Only those in one of these states, with commas between."},
    {"workspace", QueryParameter::Kind::text, "Only those of this workspace."},
    {"project", QueryParameter::Kind::text, "Only those of this project."},
    {"label", QueryParameter::Kind::text, "Only those with this label."},
    {"searcher", QueryParameter::Kind::text, "Only those with this searcher."},
    {"owner", QueryParameter::Kind::text, "Only those of this user."},
    {"q", QueryParameter::Kind::text, "Only those whose name, description or labels have this in them."},
    {"sort", QueryParameter::Kind::text, "Names with commas between: name,-created_at."},
    after_position,
    page_limit,
};

constexpr Route table[] = {
    {"POST",
     "/api/v1/experiments",
     Role::submit,
     &submit,
     {"create_experiment", "experiments", "Creates an experiment", "CreatedExperiment", "Submission", 201, "",
      "", true},
     {},
     false},
    {"POST",
     "/api/v1/experiments/validate",
     Role::submit,
     &validate,
     {"validate_experiment", "experiments", "Checks an experiment without creating it", "Validation",
      "Submission", 200, "", "", true},
     {},
     false},
    {"POST",
     "/api/v1/experiments/preview",
     Role::submit,
     &preview,
     {"preview_experiment", "experiments", "Estimates what an experiment costs without creating it",
      "Preview", "Submission", 200, "", "", true},
     {},
     false},
    {"POST",
     "/api/v1/preview",
     Role::submit,
     &preview,
     {"preview", "experiments", "The same as preview_experiment", "Preview", "Submission", 200, "", "", true},
     {},
     false},
    {"GET",
     "/api/v1/experiments",
     Role::viewer,
     &list,
     {"list_experiments", "experiments", "Lists experiments by number, or those that are asked for",
      "ExperimentPage"},
     experiments_query},
    {"GET",
     "/api/v1/experiments/#",
     Role::viewer,
     &show,
     {"show_experiment", "experiments", "Describes an experiment", "Experiment"}},
    {"POST",
     "/api/v1/experiments/#/fork",
     Role::submit,
     &fork,
     {"fork_experiment", "experiments", "Answers the submission that creates the same experiment again",
      "Fork"},
     {},
     false,
     Reach::any_experiment},
    {"PATCH",
     "/api/v1/experiments/#",
     Role::submit,
     &set_limits,
     {"change_experiment", "experiments", "Changes limits of an experiment", "ExperimentSummary",
      "LimitChanges"}},
    {"GET",
     "/api/v1/experiments/#/config",
     Role::viewer,
     &config,
     {"show_config", "experiments", "Answers the experiment file with all defaults", "map"}},
    {"GET",
     "/api/v1/experiments/#/best",
     Role::viewer,
     &best,
     {"show_best", "experiments", "Describes the best trial", "Trial?"}},
    {"GET",
     "/api/v1/experiments/#/model",
     Role::viewer,
     &model,
     {"show_model", "experiments", "Describes what the model of the search has learnt", "Model?"}},
    {"GET",
     "/api/v1/experiments/#/checkpoints",
     Role::viewer,
     &checkpoints,
     {"list_checkpoints", "experiments", "Lists checkpoints of all trials", "CheckpointPage"},
     place_page_query},
    {"POST",
     "/api/v1/experiments/#/program",
     Role::submit,
     &change_program,
     {"change_program", "experiments", "Changes the program of trials that have reported nothing yet",
      "ExperimentSummary", "ProgramRequest"}},
    {"POST",
     "/api/v1/experiments/#/pause",
     Role::submit,
     &pause,
     {"pause_experiment", "experiments", "Pauses an experiment", "ExperimentSummary"}},
    {"POST",
     "/api/v1/experiments/#/resume",
     Role::submit,
     &resume,
     {"resume_experiment", "experiments", "Resumes a paused experiment", "ExperimentSummary"}},
    {"POST",
     "/api/v1/experiments/#/cancel",
     Role::submit,
     &cancel,
     {"cancel_experiment", "experiments", "Cancels an experiment", "ExperimentSummary"}},
    {"POST",
     "/api/v1/experiments/#/kill",
     Role::submit,
     &kill,
     {"kill_experiment", "experiments", "Ends an experiment and its programs at once", "ExperimentSummary"}},
    {"POST",
     "/api/v1/experiments/#/archive",
     Role::submit,
     &archive,
     {"archive_experiment", "experiments", "Hides an experiment that has ended from lists",
      "ExperimentSummary"}},
    {"POST",
     "/api/v1/experiments/#/unarchive",
     Role::submit,
     &unarchive,
     {"unarchive_experiment", "experiments", "Shows an archived experiment in lists again",
      "ExperimentSummary"}},
    {"DELETE",
     "/api/v1/experiments/#",
     Role::admin,
     &remove,
     {"delete_experiment", "experiments",
      "Deletes an experiment that has ended, with its checkpoints, logs and files", "DeletedExperiment", "",
      202}},
};

}  // namespace

std::string waits_for(const RequestContext& request_context, const engine::ExperimentRecord& record) {
  return sentences::why_experiment_waits(
      engine::waits_for(record, request_context.runtime.engine().workers(), request_context.runtime.now()));
}

Value summary_now(const RequestContext& request_context, const engine::ExperimentRecord& record) {
  Value summary = proto::experiment_summary(record);
  (*summary.as_map())["waits_for"] = waits_for(request_context, record);
  return summary;
}

Value detail_now(const RequestContext& request_context, const engine::ExperimentRecord& record) {
  Value detail = proto::experiment_detail(record, request_context.runtime.now());
  (*detail.as_map())["waits_for"] = waits_for(request_context, record);
  return detail;
}

std::span<const Route> experiment_routes() noexcept {
  return table;
}

}  // namespace hpsearch::daemon
