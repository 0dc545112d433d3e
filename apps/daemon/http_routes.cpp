#include "daemon/http_routes.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/config/secrets.hpp"
#include "hpsearch/engine/experiment/warm_start.hpp"
#include "hpsearch/proto/client_api.hpp"
#include "hpsearch/proto/json.hpp"
#include "hpsearch/proto/stored.hpp"
#include "hpsearch/proto/version.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::ExperimentId;
using engine::ExperimentRecord;
using engine::Result;
using engine::TrialNumber;
using engine::Value;
using net::HttpRequest;
using net::HttpResponse;

constexpr std::uint64_t most_events_at_once = 1'000;
constexpr std::uint64_t most_events_looked_at = 10'000;
constexpr std::uint64_t most_log_bytes = 128 * 1024;
constexpr std::size_t most_key_bytes = 200;
constexpr std::uint64_t seeds = std::uint64_t{1} << 31U;

unsigned status_of(Errc code) {
  switch (code) {
    case Errc::bad_request:
      return 400;
    case Errc::not_found:
      return 404;
    case Errc::wrong_state:
      return 409;
    case Errc::unavailable:
      return 503;
    case Errc::version_mismatch:
    case Errc::corrupt:
      return 500;
  }
  return 500;
}

HttpResponse with(unsigned status, const Value& value) {
  HttpResponse response;
  response.status = status;
  response.body = engine::compact_json(value) + "\n";
  return response;
}

HttpResponse failure(const Error& error) {
  return with(status_of(error.code), proto::to_value(error));
}

/// For what cannot be taken for lack of room.
HttpResponse no_room(const Storage& storage) {
  return with(507, proto::to_value(Error{Errc::unavailable, storage.why}));
}

HttpResponse failure(const std::string& message, const engine::Problems& problems) {
  Value answer = proto::to_value(Error{Errc::bad_request, message});
  Value::List list;
  for (const engine::Problem& problem : problems) {
    list.emplace_back(
        Value::Map{{"path", problem.path}, {"what", problem.what}, {"allowed", problem.allowed}});
  }
  (*(*answer.as_map())["error"].as_map())["problems"] = std::move(list);
  return with(400, answer);
}

Value integer(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}

std::optional<std::uint64_t> read_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return number;
}

/// A number of the query; `otherwise` when it is absent.
Result<std::uint64_t> number_of(const HttpRequest& request, std::string_view name, std::uint64_t otherwise) {
  const std::string_view text = request.query_or(name, {});
  if (text.empty()) {
    return otherwise;
  }
  const auto number = read_number(text);
  if (!number) {
    return Error{Errc::bad_request,
                 std::string(name) + " is \"" + std::string(text) + "\"; it has to be a whole number"};
  }
  return *number;
}

std::uint64_t random_seed() {
  std::uint64_t number = 0;
  HPSEARCH_CHECK(::getrandom(&number, sizeof number, 0) == sizeof number,
                 "the kernel always has random bytes");
  return number % seeds;
}

/// The experiment an event belongs to; nothing for what happens to workers.
std::optional<ExperimentId> experiment_of(const engine::EventBody& body) {
  return std::visit(
      [](const auto& event) -> std::optional<ExperimentId> {
        if constexpr (requires { event.key; }) {
          return event.key.experiment;
        } else if constexpr (requires { event.experiment; }) {
          return event.experiment;
        } else {
          return std::nullopt;
        }
      },
      body);
}

/// What POST /experiments asks for.
struct Submission {
  Value config;
  std::string name;
  std::string context_directory;
  std::uint64_t seed = 0;
};

/// Reads a submission; `problems` says everything that is wrong with it.
Submission read_submission(const Value::Map& body, engine::Problems& problems) {
  static constexpr std::array<std::string_view, 4> known{"config", "name", "context_directory", "seed"};
  Submission read;
  read.name = "experiment";
  read.seed = random_seed();
  for (const auto& [key, value] : body) {
    const std::string* text = value.as_text();
    const std::int64_t* number = value.as_integer();
    if (key == "config") {
      if (value.as_map() == nullptr) {
        problems.push_back(
            {key, "is a " + std::string(value.kind_name()), "a map: the experiment's configuration"});
      }
      read.config = value;
    } else if (key == "name") {
      if (text == nullptr || text->empty()) {
        problems.push_back({key, "is not a name", "a text that is not empty"});
      } else {
        read.name = *text;
      }
    } else if (key == "context_directory") {
      if (text == nullptr || (!text->empty() && text->front() != '/')) {
        problems.push_back({key, "is not an absolute path", "a path from / on, or \"\" for none"});
      } else {
        read.context_directory = *text;
      }
    } else if (key == "seed") {
      if (number == nullptr || *number < 0 || static_cast<std::uint64_t>(*number) >= seeds) {
        problems.push_back({key, "is not a seed", "an integer from 0 to 2147483647"});
      } else {
        read.seed = static_cast<std::uint64_t>(*number);
      }
    } else {
      const std::string near(engine::nearest(key, known));
      problems.push_back(
          {key, "is not known", near.empty() ? "config, name, context_directory, seed" : near});
    }
  }
  if (!body.contains("config")) {
    problems.push_back({"config", "is missing", "a map: the experiment's configuration"});
  }
  return read;
}

/// Bytes a lease of this experiment takes at most, apart from what differs between trials by a little.
std::size_t lease_bytes(const engine::ExperimentConfig& config, const std::string& context_directory) {
  engine::LaunchSpec spec;
  spec.experiment_name = config.name;
  spec.entrypoint = config.entrypoint;
  spec.hparams = config.hyperparameters;
  spec.unit = config.unit;
  spec.metric = config.searcher.metric;
  spec.context_directory = context_directory;
  spec.checkpoint_root = config.checkpoint_storage.host_path + config.checkpoint_storage.storage_path;
  spec.environment_variables = config.environment_variables;
  spec.metric_patterns = config.metrics;
  spec.data = config.data;
  spec.contract = config.contract;
  return proto::encode(proto::Envelope{}, proto::FromDaemon(proto::Lease{std::move(spec)})).size();
}

class Routes {
 public:
  Routes(Runtime& runtime, WorkerGate& gate, AboutDaemon about)
      : runtime_(runtime), gate_(gate), about_(std::move(about)) {}

  void handle(HttpRequest request, net::HttpServer::Reply reply) {
    bool path_known = false;
    for (const Route& route : table) {
      std::vector<std::uint64_t> numbers;
      if (!match(route.path, request.path, numbers)) {
        continue;
      }
      path_known = true;
      if (route.method == request.method) {
        (this->*route.handler)(Call{std::move(request), std::move(numbers), std::move(reply)});
        return;
      }
    }
    if (path_known) {
      reply(with(405,
                 proto::to_value(Error{Errc::bad_request, request.method + " is not served on this path"})));
    } else {
      reply(failure(Error{Errc::not_found, "there is nothing at this path"}));
    }
  }

 private:
  struct Call {
    HttpRequest request;
    std::vector<std::uint64_t> numbers;  ///< What stands for the #s of the route's path.
    net::HttpServer::Reply reply;

    [[nodiscard]] ExperimentId experiment() const { return ExperimentId(numbers.at(0)); }
    [[nodiscard]] engine::WorkerId worker() const { return engine::WorkerId(numbers.at(0)); }
    [[nodiscard]] TrialNumber trial() const { return TrialNumber(numbers.at(1)); }
  };
  struct Route {
    std::string_view method;
    std::string_view path;  ///< # stands for a number.
    void (Routes::*handler)(Call call);
  };
  static const std::array<Route, 29> table;

  static bool match(std::string_view pattern, std::string_view path, std::vector<std::uint64_t>& numbers) {
    while (!pattern.empty() && !path.empty()) {
      const std::string_view wanted = pattern.substr(0, pattern.find('/', 1));
      const std::string_view given = path.substr(0, path.find('/', 1));
      if (wanted == "/#") {
        const auto number = read_number(given.substr(1));
        if (!number) {
          return false;
        }
        numbers.push_back(*number);
      } else if (wanted != given) {
        return false;
      }
      pattern.remove_prefix(wanted.size());
      path.remove_prefix(given.size());
    }
    return pattern.empty() && path.empty();
  }

  /// Answers from the engine's memory, once what it shows is durable.
  void answer(const Call& call, HttpResponse response) {
    if (runtime_.stalled()) {
      call.reply(no_room(runtime_.storage()));
      return;
    }
    runtime_.when_durable([reply = call.reply, response = std::move(response)] { reply(response); });
  }
  void answer(const Call& call, const Result<Value>& value) {
    answer(call, value ? with(200, *value) : failure(value.error()));
  }

  /// Answers from the store.
  void read(const Call& call, std::function<Committer::Then(EventStore&)> job) {
    if (runtime_.stalled()) {
      call.reply(no_room(runtime_.storage()));
    } else {
      runtime_.read(std::move(job));
    }
  }

  [[nodiscard]] Result<const ExperimentRecord*> experiment(const Call& call) const {
    const ExperimentRecord* record = runtime_.engine().find(call.experiment());
    if (record == nullptr) {
      return Error{Errc::not_found, "there is no experiment " + std::to_string(call.numbers.at(0))};
    }
    return record;
  }

  [[nodiscard]] Result<const ExperimentRecord*> experiment_with_trial(const Call& call) const {
    auto record = experiment(call);
    if (record && call.trial().number() >= (*record)->trials.size()) {
      return Error{Errc::not_found, "experiment " + std::to_string(call.numbers.at(0)) + " has no trial " +
                                        std::to_string(call.numbers.at(1))};
    }
    return record;
  }

  // --- the daemon itself ---

  void health(Call call) {
    const Storage& storage = runtime_.storage();
    Value::Map health{{"status", storage.intake == Intake::everything ? "ok" : "degraded"},
                      {"storage", storage.state}};
    if (!storage.why.empty()) {
      health["why"] = storage.why;
    }
    call.reply(with(200, health));
  }

  void version(Call call) {
    call.reply(with(200, Value::Map{{"version", about_.version},
                                    {"api", "v1"},
                                    {"wire_version", integer(proto::wire_version)},
                                    {"store_version", integer(proto::store_version)}}));
  }

  void status(Call call) {
    const Committer::Counters store = runtime_.store_counters();
    Value::List searchers;
    for (const auto& kind : runtime_.registry()) {
      searchers.emplace_back(std::string(kind.name));
    }
    HttpResponse response = with(200, Value::Map{{"version", about_.version},
                                      {"pid", integer(static_cast<std::uint64_t>(::getpid()))},
                                      {"state_dir", about_.state_dir},
                                      {"cluster", std::to_string(runtime_.cluster())},
                                      {"daemon_epoch", integer(runtime_.daemon_epoch())},
                                      {"lsn", integer(runtime_.engine().last_lsn().number())},
                                      {"durable_lsn", integer(store.durable.number())},
                                      {"uptime_seconds", (runtime_.now() - about_.started).in_seconds()},
                                      {"engine_seconds", runtime_.engine_seconds()},
                                      {"late_reports", integer(gate_.late_reports())},
                                      {"store_seconds", store.seconds},
                                      {"commits", integer(store.commits)},
                                      {"events", integer(store.events)},
                                      {"experiments", integer(runtime_.engine().experiments().size())},
                                      {"storage", storage_value()},
                                      {"searchers", std::move(searchers)}});
    if (runtime_.stalled()) {
      call.reply(response);  // Whoever asks wants to know why; what is not durable is told apart by its lsn.
    } else {
      answer(call, std::move(response));
    }
  }

  [[nodiscard]] Value storage_value() const {
    const Storage& storage = runtime_.storage();
    return Value::Map{{"state", storage.state},
                      {"free_bytes", integer(storage.free_bytes)},
                      {"total_bytes", integer(storage.total_bytes)},
                      {"why", storage.why}};
  }

  void back_up(Call call) {
    if (about_.backups == nullptr) {
      call.reply(failure(Error{Errc::not_found, "this daemon keeps its store in memory"}));
      return;
    }
    if (runtime_.storage().intake != Intake::everything) {
      call.reply(no_room(runtime_.storage()));
      return;
    }
    about_.backups->make([reply = call.reply](const Result<std::string>& path) {
      reply(path ? with(201, Value::Map{{"path", *path}}) : failure(path.error()));
    });
  }

  void workers(Call call) {
    Value::List list;
    for (const auto& [id, worker] : runtime_.engine().workers()) {
      list.push_back(worker_now(worker));
    }
    answer(call, with(200, Value::Map{{"workers", std::move(list)}}));
  }

  /// The worker, and what is known of it beyond the log.
  [[nodiscard]] Value worker_now(const engine::WorkerRecord& worker) const {
    Value value = proto::worker_value(worker);
    Value::Map& map = *value.as_map();
    map["connected"] = worker.present && gate_.connected(worker.id);
    map["suspect"] = worker.present && runtime_.suspect(worker.id);
    map["kills_by"] = gate_.kills_by(worker.id);
    Value::List on_hold;
    for (const engine::HeldAttempt& held : gate_.on_hold(worker.id)) {
      on_hold.push_back(Value::Map{{"experiment", integer(held.key.experiment.number())},
                                   {"trial", integer(held.key.trial.number())},
                                   {"attempt", integer(held.key.attempt.number())},
                                   {"exited", held.exited}});
    }
    map["on_hold"] = std::move(on_hold);
    return value;
  }

  void checkpoints(Call call) {
    const auto record = experiment(call);
    answer(call, record ? Result<Value>(proto::checkpoints_value(**record)) : Result<Value>(record.error()));
  }

  void delete_checkpoints(Call call) {
    const auto body = proto::parse_json(call.request.body.empty() ? "{}" : call.request.body);
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
      call.reply(failure(Error{Errc::bad_request, "paths has to be a list of checkpoints, as GET .../checkpoints has them"}));
      return;
    }
    perform(call, std::move(command), [this, id = call.experiment()] {
      return with(200, proto::checkpoints_value(*runtime_.engine().find(id)));
    });
  }

  void quarantine(Call call) {
    const auto body = proto::parse_json(call.request.body.empty() ? "{}" : call.request.body);
    if (!body) {
      call.reply(failure(body.error()));
      return;
    }
    const Value* why = body->at_path("why");
    const std::string* text = why != nullptr ? why->as_text() : nullptr;
    if (why != nullptr && text == nullptr) {
      call.reply(failure(Error{Errc::bad_request, "why has to be a text: what is wrong with the worker"}));
      return;
    }
    change_worker(call, engine::QuarantineWorker{call.worker(), text != nullptr ? *text : ""});
  }
  void release(Call call) { change_worker(call, engine::ReleaseWorker{call.worker()}); }

  void change_worker(const Call& call, engine::Command command) {
    perform(call, std::move(command), [this, worker = call.worker()] {
      return with(200, worker_now(runtime_.engine().workers().at(worker)));
    });
  }

  /// The attempt on hold that the path names.
  [[nodiscard]] Result<engine::HeldAttempt> on_hold(const Call& call) const {
    for (const engine::HeldAttempt& held : gate_.on_hold(call.worker())) {
      if (held.key.experiment.number() == call.numbers.at(1) && held.key.trial.number() == call.numbers.at(2) &&
          held.key.attempt.number() == call.numbers.at(3)) {
        return held;
      }
    }
    return Error{Errc::not_found, "worker " + std::to_string(call.worker().number()) + " has no such attempt on hold"};
  }
  void adopt(Call call) {
    const auto held = on_hold(call);
    if (!held) {
      answer(call, failure(held.error()));
      return;
    }
    change_worker(call, engine::AdoptAttempt{call.worker(), *held});
  }
  void disown(Call call) {
    const auto held = on_hold(call);
    const engine::Status done = held ? gate_.disown(call.worker(), held->key) : engine::Status(held.error());
    answer(call, done ? with(200, worker_now(runtime_.engine().workers().at(call.worker()))) : failure(done.error()));
  }

  void events(Call call) {
    const auto after = number_of(call.request, "after", 0);
    const auto limit = number_of(call.request, "limit", 100);
    const auto only = number_of(call.request, "experiment", 0);
    for (const auto* number : {&after, &limit, &only}) {
      if (!*number) {
        call.reply(failure(number->error()));
        return;
      }
    }
    const bool filtered = !call.request.query_or("experiment", {}).empty();
    read(call, [reply = call.reply, filtered, start = *after, most = std::min(*limit, most_events_at_once),
                   wanted = ExperimentId(*only)](EventStore& store) -> Committer::Then {
      Value::List list;
      std::uint64_t last = start;
      std::uint64_t looked_at = 0;
      while (list.size() < most && looked_at < most_events_looked_at) {
        const auto some = store.read(engine::Lsn(last), filtered ? most_events_at_once : most - list.size());
        if (!some) {
          return [reply, error = some.error()] { reply(failure(error)); };
        }
        if (some->empty()) {
          break;
        }
        for (const engine::Event& event : *some) {
          if (list.size() == most) {
            break;
          }
          last = event.lsn.number();
          ++looked_at;
          if (!filtered || experiment_of(event.body) == wanted) {
            list.push_back(proto::to_value(event));
          }
        }
      }
      HttpResponse response = with(200, Value::Map{{"events", std::move(list)}, {"last_lsn", integer(last)}});
      return [reply, response = std::move(response)] { reply(response); };
    });
  }

  // --- experiments ---

  void submit(Call call) {
    if (runtime_.storage().intake != Intake::everything) {
      call.reply(no_room(runtime_.storage()));
      return;
    }
    const auto body = proto::parse_json(call.request.body);
    if (!body || body->as_map() == nullptr) {
      call.reply(failure(
          Error{Errc::bad_request, body ? "the body has to be a JSON object" : body.error().message}));
      return;
    }
    const std::string key(call.request.header("Idempotency-Key"));
    if (key.size() > most_key_bytes) {
      call.reply(failure(Error{Errc::bad_request, "the Idempotency-Key is longer than 200 bytes"}));
      return;
    }
    engine::Problems problems;
    Submission submission = read_submission(*body->as_map(), problems);
    if (!problems.empty()) {
      call.reply(failure("the request is wrong", problems));
      return;
    }
    const auto parsed =
        engine::parse_submission(submission.config, runtime_.registry(), submission.name, submission.seed);
    if (!parsed.config) {
      call.reply(failure("the configuration is wrong", parsed.problems));
      return;
    }
    // Half a frame is left to checkpoint paths and whatever else a trial adds.
    const std::size_t bytes = lease_bytes(*parsed.config, submission.context_directory);
    if (bytes > proto::max_frame_bytes / 2) {
      call.reply(failure(Error{Errc::bad_request, "the configuration takes " + std::to_string(bytes) +
                                                      " bytes on its way to a worker; at most " +
                                                      std::to_string(proto::max_frame_bytes / 2) + " fit"}));
      return;
    }
    engine::CreateExperiment command;
    command.config = std::move(submission.config);
    command.fallback_name = std::move(submission.name);
    command.seed = submission.seed;
    command.context_directory = std::move(submission.context_directory);
    command.idempotency_key = key;
    perform(command, [this, reply = call.reply, searcher = parsed.config->searcher](const Result<Runtime::Outcome>& outcome) {
      engine::Problems no_source;  // Looked for again, so that its place in the file can be named.
      if (!outcome) {
        static_cast<void>(engine::find_source(runtime_.engine().experiments(), searcher, no_source).has_value());
      }
      reply(outcome               ? with(201, Value::Map{{"experiment", integer(outcome->created->number())}})
            : no_source.empty() ? failure(outcome.error())
                                : failure("the configuration is wrong", no_source));
    });
  }

  void list(Call call) {
    Value::List list;
    for (const auto& [id, record] : runtime_.engine().experiments()) {
      list.push_back(proto::experiment_summary(record));
    }
    answer(call, with(200, Value::Map{{"experiments", std::move(list)}}));
  }

  void show(Call call) {
    const auto record = experiment(call);
    answer(call, record ? Result<Value>(proto::experiment_detail(**record, runtime_.now())) : record.error());
  }

  void config(Call call) {
    const auto record = experiment(call);
    answer(call, record ? Result<Value>(engine::without_secrets((*record)->effective)) : record.error());
  }

  void best(Call call) {
    const auto record = experiment(call);
    answer(call, record ? Result<Value>(proto::best_trial(**record, runtime_.now())) : record.error());
  }

  void pause(Call call) { change(call, engine::PauseExperiment{call.experiment()}); }
  void resume(Call call) { change(call, engine::ResumeExperiment{call.experiment()}); }
  void cancel(Call call) { change(call, engine::CancelExperiment{call.experiment()}); }
  void kill(Call call) { change(call, engine::KillExperiment{call.experiment()}); }

  void change(const Call& call, engine::Command command) {
    perform(call, std::move(command), [this, id = call.experiment()] {
      return with(200, proto::experiment_summary(*runtime_.engine().find(id)));
    });
  }

  void set_limits(Call call) {
    auto changes = proto::parse_json(call.request.body);
    if (!changes) {
      call.reply(failure(changes.error()));
      return;
    }
    change(call, engine::ChangeExperiment{call.experiment(), std::move(*changes)});
  }

  // --- trials ---

  void trials(Call call) {
    const auto record = experiment(call);
    if (!record) {
      answer(call, failure(record.error()));
      return;
    }
    Value::List list;
    for (std::uint64_t number = 0; number < (*record)->trials.size(); ++number) {
      list.push_back(trial_now(**record, TrialNumber(number)));
    }
    answer(call, with(200, Value::Map{{"trials", std::move(list)}}));
  }

  void trial(Call call) {
    const auto record = experiment_with_trial(call);
    answer(call, record ? Result<Value>(trial_now(**record, call.trial())) : record.error());
  }

  /// The trial, and what is known of it beyond the log.
  [[nodiscard]] Value trial_now(const engine::ExperimentRecord& record, TrialNumber number) const {
    Value value = proto::trial_value(record, number, runtime_.now());
    const auto& live = record.trials[number.number()].live;
    const auto heard = live ? gate_.heard_of(live->worker, live->key) : std::nullopt;
    Value::Map& map = *value.as_map();
    map["heard_at"] = heard ? Value(static_cast<double>(heard->at.micros()) / 1e6) : Value();
    map["heard_step"] = heard ? integer(engine::count(heard->step)) : Value();
    return value;
  }

  void cancel_trial(Call call) { end_trial(call, engine::ExitReason::user_canceled); }
  void stop_trial(Call call) { end_trial(call, engine::ExitReason::user_stopped); }

  void end_trial(const Call& call, engine::ExitReason reason) {
    perform(call, engine::EndTrial{call.experiment(), call.trial(), reason}, [this, call] {
      return with(200, trial_now(*runtime_.engine().find(call.experiment()), call.trial()));
    });
  }

  void explain(Call call) {
    const auto record = experiment_with_trial(call);
    if (!record) {
      answer(call, failure(record.error()));
      return;
    }
    // The engine's view of now and the store's of the past are both of this moment: what is committed after it
    // is in neither.
    const engine::Explanation explanation = engine::explain(**record, call.trial(), runtime_.engine().workers());
    const Value now = proto::explanation_value(**record, call.trial(), explanation, {});
    read(call, [reply = call.reply, now, id = call.experiment(),
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

  void metrics(Call call) {
    const auto record = experiment_with_trial(call);
    if (!record) {
      answer(call, failure(record.error()));
      return;
    }
    read(call, [reply = call.reply, id = call.experiment(),
                   number = call.trial()](EventStore& store) -> Committer::Then {
      const auto points = store.metrics(id, number);
      if (!points) {
        return [reply, error = points.error()] { reply(failure(error)); };
      }
      Value::List list;
      for (const MetricPoint& point : *points) {
        Value::Map metrics;
        for (const auto& [name, value] : point.metrics) {
          metrics[name] = value;
        }
        list.emplace_back(Value::Map{{"attempt", integer(point.attempt.number())},
                                     {"step", integer(engine::count(point.step))},
                                     {"metrics", std::move(metrics)}});
      }
      HttpResponse response = with(200, Value::Map{{"metrics", std::move(list)}});
      return [reply, response = std::move(response)] { reply(response); };
    });
  }

  void log(Call call) {
    const auto record = experiment_with_trial(call);
    const auto attempt = number_of(call.request, "attempt", 0);
    const auto offset = number_of(call.request, "offset", 0);
    const auto limit = number_of(call.request, "limit", 64 * 1024);
    if (!record) {
      answer(call, failure(record.error()));
      return;
    }
    for (const auto* number : {&attempt, &offset, &limit}) {
      if (!*number) {
        call.reply(failure(number->error()));
        return;
      }
    }
    WorkerGate::LogQuestion question;
    question.stream = call.request.query_or("stream", "stdout");
    if (question.stream != "stdout" && question.stream != "stderr") {
      call.reply(failure(Error{Errc::bad_request, "stream has to be stdout or stderr"}));
      return;
    }
    question.offset = *offset;
    question.limit = std::min(*limit, most_log_bytes);
    const std::string_view from_end = call.request.query_or("from_end", "0");
    question.from_end = from_end == "1" || from_end == "true";
    read(call, [this, call, question, wanted = *attempt](EventStore& store) -> Committer::Then {
      const auto place = place_of(store, call.experiment(), call.trial(), wanted);
      return [this, call, question, place] {
        if (!place) {
          call.reply(failure(place.error()));
          return;
        }
        WorkerGate::LogQuestion asked = question;
        asked.worker = place->worker;
        asked.key = place->key;
        read_log(call, asked);
      };
    });
  }

  /// Which worker ran an attempt (0: the last one), present or past: whom to ask for its log.
  struct AttemptPlace {
    engine::AttemptKey key;
    engine::WorkerId worker;
  };
  static Result<AttemptPlace> place_of(EventStore& store, ExperimentId experiment, TrialNumber trial,
                                       std::uint64_t attempt) {
    const auto events = store.history(experiment, trial);
    if (!events) {
      return events.error();
    }
    std::optional<AttemptPlace> place;
    for (const engine::Event& event : *events) {
      const auto* granted = std::get_if<engine::LeaseGranted>(&event.body);
      const auto* adopted = std::get_if<engine::AttemptAdopted>(&event.body);
      if (adopted != nullptr && (attempt == 0 || adopted->key.attempt.number() == attempt)) {
        place = AttemptPlace{adopted->key, adopted->worker};
      }
      if (granted != nullptr && (attempt == 0 || granted->attempt.number() == attempt)) {
        place = AttemptPlace{
            {experiment, trial, granted->attempt, engine::LeaseId(event.lsn.number())}, granted->worker};
      }
    }
    if (!place) {
      return Error{Errc::not_found, "trial " + std::to_string(trial.number()) +
                                        (attempt == 0 ? " has not run yet"
                                                      : " has no attempt " + std::to_string(attempt))};
    }
    return *place;
  }

  void read_log(const Call& call, const WorkerGate::LogQuestion& question) {
    gate_.read_log(question, [this, call, shown = question.key.attempt](const Result<proto::LogPart>& part) {
      if (!part) {
        answer(call, failure(part.error()));
      } else if (!part->problem.empty()) {
        answer(call, failure(Error{Errc::not_found, part->problem}));
      } else {
        answer(call, with(200, Value::Map{{"attempt", integer(shown.number())},
                                          {"offset", integer(part->offset)},
                                          {"size", integer(part->size)},
                                          {"text", part->text}}));
      }
    });
  }

  /// Shows what the command changed as it is then; refused while there is no room to store anything.
  void perform(const Call& call, engine::Command command, std::function<HttpResponse()> shown) {
    if (runtime_.stalled()) {
      call.reply(no_room(runtime_.storage()));
      return;
    }
    perform(std::move(command),
            [this, reply = call.reply, shown = std::move(shown)](const Result<Runtime::Outcome>& outcome) {
              if (!outcome) {
                reply(failure(outcome.error()));
                return;
              }
              // Between the commit and now others may have moved it on: wait for that, too.
              runtime_.when_durable([reply, response = shown()] { reply(response); });
            });
  }
  void perform(engine::Command command, Runtime::Answer answer) {
    // What it came to is told when it is durable, and not before.
    static_cast<void>(runtime_.perform(std::move(command), std::move(answer)));
  }

  Runtime& runtime_;
  WorkerGate& gate_;
  AboutDaemon about_;
};

const std::array<Routes::Route, 29> Routes::table{{
    {"GET", "/healthz", &Routes::health},
    {"GET", "/version", &Routes::version},
    {"GET", "/api/v1/status", &Routes::status},
    {"GET", "/api/v1/workers", &Routes::workers},
    {"POST", "/api/v1/workers/#/quarantine", &Routes::quarantine},
    {"POST", "/api/v1/workers/#/release", &Routes::release},
    {"POST", "/api/v1/workers/#/attempts/#/#/#/adopt", &Routes::adopt},
    {"POST", "/api/v1/workers/#/attempts/#/#/#/disown", &Routes::disown},
    {"GET", "/api/v1/events", &Routes::events},
    {"POST", "/api/v1/store/backup", &Routes::back_up},
    {"POST", "/api/v1/experiments", &Routes::submit},
    {"GET", "/api/v1/experiments", &Routes::list},
    {"GET", "/api/v1/experiments/#", &Routes::show},
    {"PATCH", "/api/v1/experiments/#", &Routes::set_limits},
    {"GET", "/api/v1/experiments/#/config", &Routes::config},
    {"GET", "/api/v1/experiments/#/best", &Routes::best},
    {"GET", "/api/v1/experiments/#/checkpoints", &Routes::checkpoints},
    {"POST", "/api/v1/experiments/#/trials/#/checkpoints/delete", &Routes::delete_checkpoints},
    {"POST", "/api/v1/experiments/#/pause", &Routes::pause},
    {"POST", "/api/v1/experiments/#/resume", &Routes::resume},
    {"POST", "/api/v1/experiments/#/cancel", &Routes::cancel},
    {"POST", "/api/v1/experiments/#/kill", &Routes::kill},
    {"GET", "/api/v1/experiments/#/trials", &Routes::trials},
    {"GET", "/api/v1/experiments/#/trials/#", &Routes::trial},
    {"POST", "/api/v1/experiments/#/trials/#/cancel", &Routes::cancel_trial},
    {"POST", "/api/v1/experiments/#/trials/#/stop", &Routes::stop_trial},
    {"GET", "/api/v1/experiments/#/trials/#/explain", &Routes::explain},
    {"GET", "/api/v1/experiments/#/trials/#/metrics", &Routes::metrics},
    {"GET", "/api/v1/experiments/#/trials/#/log", &Routes::log},
}};

}  // namespace

net::HttpServer::Handler http_routes(Runtime& runtime, WorkerGate& gate, AboutDaemon about) {
  auto routes = std::make_shared<Routes>(runtime, gate, std::move(about));
  return [routes](HttpRequest request, net::HttpServer::Reply reply) {
    routes->handle(std::move(request), std::move(reply));
  };
}

}  // namespace hpsearch::daemon
