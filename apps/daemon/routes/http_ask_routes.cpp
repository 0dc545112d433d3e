#include <algorithm>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/http/http_request_context.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/proto/api/ask.hpp"
#include "hpsearch/proto/api/schema.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::daemon {
namespace {

constexpr double most_lease_seconds = 7 * 24 * 3600;
constexpr double default_lease_seconds = 300;
constexpr std::uint64_t most_wait_seconds = 60;
constexpr std::size_t most_metrics = 1'000;
constexpr std::size_t most_message_bytes = 4'096;
constexpr std::chrono::milliseconds look_again{50};

Error wrong(std::string_view field, const Value& value, std::string_view allowed) {
  return Error{Errc::bad_request, std::string(field) + " is " + engine::compact_json(value).substr(0, 200) +
                                      "; it has to be " + std::string(allowed)};
}

/// bad_request: a member is not one of these.
engine::Status only(const Value& body, std::initializer_list<std::string_view> known) {
  std::string names;
  for (const std::string_view name : known) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  for (const auto& [name, value] : *body.as_map()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Error{Errc::bad_request, name + " is unknown (" + names + ")"};
    }
  }
  return engine::Done{};
}

const Value* member_of(const Value& body, std::string_view name) {
  const Value* found = body.as_map()->find(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

Result<std::uint64_t> whole(const Value& body, std::string_view name, std::optional<std::uint64_t> otherwise,
                            std::uint64_t least, std::uint64_t most) {
  const std::string allowed = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  const Value* value = member_of(body, name);
  if (value == nullptr) {
    return otherwise ? Result<std::uint64_t>(*otherwise)
                     : Error{Errc::bad_request, std::string(name) + " is missing; it has to be " + allowed};
  }
  const std::int64_t* number = value->as_integer();
  if (number == nullptr || *number < 0 || static_cast<std::uint64_t>(*number) < least ||
      static_cast<std::uint64_t>(*number) > most) {
    return wrong(name, *value, allowed);
  }
  return static_cast<std::uint64_t>(*number);
}

/// An opaque text for clients.
std::string text_of(engine::LeaseId lease) {
  return std::to_string(lease.number());
}

Result<engine::LeaseId> lease_in(const Value& body) {
  const Value* value = member_of(body, "lease");
  const auto number = value != nullptr && value->as_text() != nullptr ? read_number(*value->as_text())
                                                                      : std::optional<std::uint64_t>();
  if (!number) {
    return wrong("lease", value == nullptr ? Value() : *value, "the text that `ask` returned for this trial");
  }
  return engine::LeaseId(*number);
}

// --- ask ---

/// A trial as its client sees it while it holds the lease.
api::AskedTrial asked_trial(const engine::ExperimentRecord& record, const engine::AttemptKey& key) {
  const engine::TrialRecord& trial = record.trials[key.trial.number()];
  std::string checkpoint = trial.checkpoints ? trial.checkpoints->latest : "";
  if (checkpoint.empty() && record.source) {
    checkpoint = record.source->path;
  }
  return {
      .trial = key.trial,
      .attempt = key.attempt,
      .lease = text_of(key.lease),
      .lease_seconds = trial.live->external->lease_for.in_seconds(),
      .hparams = record.hparams[key.trial.number()],
      .length = engine::count(trial.live->granted_length),
      .reached = engine::count(trial.reached),
      .seed = engine::trial_seed(record.config.experiment_seed, key.trial),
      .checkpoint = std::move(checkpoint),
  };
}

HttpResponse asked_answer(const engine::ExperimentRecord& record,
                          const std::vector<engine::AttemptKey>& keys) {
  api::AskedTrials asked{record.id, record.state, {}};
  for (const engine::AttemptKey& key : keys) {
    const auto& live = record.trials[key.trial.number()].live;
    if (live && live->key == key) {
      asked.trials.push_back(asked_trial(record, key));
    }
  }
  return with(200, asked);
}

/// The trials that an earlier request with the same key got, if its answer is lost: those whose leases the
/// client still holds.
std::vector<engine::AttemptKey> granted_to(const engine::ExperimentRecord& record,
                                           const std::string& request) {
  std::vector<engine::AttemptKey> keys;
  for (const engine::TrialNumber number : record.running) {
    const auto& live = record.trials[number.number()].live;
    if (live && live->external && live->external->request == request) {
      keys.push_back(live->key);
    }
  }
  return keys;
}

Result<engine::AskTrials> read_ask(engine::ExperimentId experiment, const Value& body) {
  if (const engine::Status known = only(body, {"count", "lease_seconds"}); !known) {
    return known.error();
  }
  const auto count = whole(body, "count", 1, 1, engine::most_trials_at_once);
  if (!count) {
    return count.error();
  }
  double seconds = default_lease_seconds;
  if (const Value* given = member_of(body, "lease_seconds")) {
    seconds = given->number_or(0);
    if (!(seconds >= 1) || seconds > most_lease_seconds) {
      return wrong("lease_seconds", *given, "a number of seconds from 1 to 604800");
    }
  }
  return engine::AskTrials{experiment, *count,
                           engine::Duration::micros(static_cast<std::int64_t>(std::llround(seconds * 1e6)))};
}

/// Whether trials and reports are accepted. False: the call is answered.
bool has_room(RequestContext& context, const Call& call) {
  const Storage& storage = context.runtime.storage();
  if (context.runtime.stalled() || storage.intake == Intake::what_ends || storage.intake == Intake::nothing) {
    call.reply(no_room(storage));
    return false;
  }
  return true;
}

void ask(RequestContext& context, Call call) {
  const auto record = context.experiment(call);
  const auto body = record ? call.object() : Result<Value>(record.error());
  auto command = body ? read_ask(call.experiment(), *body) : Result<engine::AskTrials>(body.error());
  if (!command) {
    context.answer(call, failure(command.error()));
    return;
  }
  if (!has_room(context, call)) {
    return;
  }
  if (call.is_done) {
    context.answer(call, asked_answer(**record, granted_to(**record, call.name->key)));
    return;
  }
  if (call.name) {
    command->request = call.name->key;
  }
  context.perform_and_show(call, *std::move(command),
                           [&context, id = call.experiment()](const Runtime::Outcome& outcome) {
                             return asked_answer(*context.runtime.engine().find(id), outcome.asked);
                           });
}

// --- report and tell ---

/// The attempt that the lease is for. wrong_state: it has ended.
Result<const engine::LiveAttempt*> held_by(const RequestContext& context, const Call& call,
                                           engine::LeaseId lease) {
  const auto record = context.experiment_with_trial(call);
  if (!record) {
    return record.error();
  }
  const engine::TrialRecord& trial = (*record)->trials[call.trial().number()];
  if (trial.live && trial.live->external && trial.live->key.lease == lease) {
    return &*trial.live;
  }
  return Error{Errc::wrong_state, "lease " + text_of(lease) + " of trial " +
                                      std::to_string(call.trial().number()) + " is over; the trial is " +
                                      std::string(engine::name_of(trial.state)) + ". Ask for another trial"};
}

Result<engine::MetricsReport> metrics_in(const Value& body) {
  const auto step = whole(body, "step", std::nullopt, 0, std::uint64_t{1} << 53U);
  if (!step) {
    return step.error();
  }
  const Value* given = member_of(body, "metrics");
  const Value::Map* map = given != nullptr ? given->as_map() : nullptr;
  if (map == nullptr || map->size() > most_metrics) {
    return wrong("metrics", given == nullptr ? Value() : *given, "an object of at most 1000 numbers by name");
  }
  engine::MetricsReport report{engine::Units(*step), {}};
  for (const auto& [name, value] : *map) {
    const std::optional<double> number = proto::real_of(value);
    if (!number || name.empty()) {
      return wrong("metrics." + name, value,
                   R"(a number, or {"class": "nan"}, "+inf" or "-inf" instead of "nan")");
    }
    report.metrics.emplace_back(name, *number);
  }
  return report;
}

/// The instruction for the client of the lease.
struct Verdict {
  api::TrialVerdict answer;
  bool is_due = false;  ///< The length is reached, and there is no decision yet.
};

Verdict verdict_of(const engine::TrialRecord& trial, engine::LeaseId lease) {
  if (!trial.live || trial.live->key.lease != lease) {
    return {{"stop", engine::count(trial.length)}, false};
  }
  const engine::LiveAttempt& live = *trial.live;
  const engine::Directive directive = live.decision ? live.decision->directive : engine::Directive::train_on;
  const engine::Units length = live.decision ? live.decision->length : live.granted_length;
  const bool goes_on = directive == engine::Directive::train_on;
  using Word = decltype(api::TrialVerdict::directive);
  const Word word = goes_on                                 ? Word("continue")
                    : directive == engine::Directive::pause ? Word("pause")
                                                            : Word("stop");
  return {{word, engine::count(length)}, goes_on && live.reached >= length};
}

/// Answers when there is a verdict, or with 202 when the time is over.
class VerdictWait : public std::enable_shared_from_this<VerdictWait> {
 public:
  VerdictWait(RequestContext& context, Call call, engine::LeaseId lease, engine::Instant until)
      : context_(context), call_(std::move(call)), lease_(lease), until_(until) {}

  void look() {
    const engine::TrialRecord* trial = context_.runtime.engine().find(call_.experiment(), call_.trial());
    const Verdict verdict = verdict_of(*trial, lease_);
    if (!verdict.is_due || context_.runtime.now() >= until_) {
      watch_ = net::Watch();
      context_.answer(call_, with(verdict.is_due ? 202 : 200, verdict.answer));
      return;
    }
    watch_ = context_.runtime.loop().after(look_again, [self = shared_from_this()] { self->look(); });
  }

 private:
  RequestContext& context_;
  Call call_;
  engine::LeaseId lease_;
  engine::Instant until_;
  net::Watch watch_;
};

void report(RequestContext& context, Call call) {
  const auto body = call.object();
  const engine::Status known =
      body ? only(*body, {"lease", "step", "metrics"}) : engine::Status(body.error());
  const auto lease = known ? lease_in(*body) : Result<engine::LeaseId>(known.error());
  const auto metrics = lease ? metrics_in(*body) : Result<engine::MetricsReport>(lease.error());
  const auto wait = number_of(call.request, "wait", 0);
  if (const Error* error = first_error(metrics, wait)) {
    call.reply(failure(*error));
    return;
  }
  const auto show = [&context, call, lease = *lease, wait = *wait](const Runtime::Outcome&) -> HttpResponse {
    const engine::TrialRecord* trial = context.runtime.engine().find(call.experiment(), call.trial());
    const Verdict verdict = verdict_of(*trial, lease);
    return with(verdict.is_due ? 202 : 200, verdict.answer);
  };
  const auto held = held_by(context, call, *lease);
  if (!held && !call.is_done) {
    context.answer(call, failure(held.error()));
    return;
  }
  if (call.is_done) {
    context.answer(call, show({}));
    return;
  }
  if (!has_room(context, call)) {
    return;
  }
  engine::TakeReports command{(*held)->worker, (*held)->key, (*held)->applied_seq + 1, {*metrics}};
  if (*wait > 0) {
    const engine::Instant until =
        context.runtime.now() + engine::Duration::seconds(static_cast<std::int64_t>(*wait));
    context.perform(
        std::move(command),
        [waiting = std::make_shared<VerdictWait>(context, call, *lease, until),
         reply = call.reply](const Result<Runtime::Outcome>& outcome) {
          outcome ? waiting->look() : reply(failure(outcome.error()));
        },
        call.name);
    return;
  }
  context.perform_and_show(call, std::move(command), show);
}

constexpr std::string_view end_states[] = {"completed", "failed", "invalid_hyperparameters"};

Result<std::vector<engine::Report>> end_in(const Value& body) {
  const Value* state = member_of(body, "state");
  const std::string* name = state != nullptr ? state->as_text() : nullptr;
  const Value* given = member_of(body, "message");
  const std::string* message = given != nullptr ? given->as_text() : nullptr;
  if (name == nullptr ||
      std::find(std::begin(end_states), std::end(end_states), *name) == std::end(end_states)) {
    return wrong("state", state == nullptr ? Value() : *state,
                 "completed, failed or invalid_hyperparameters");
  }
  if (given != nullptr && (message == nullptr || message->size() > most_message_bytes)) {
    return wrong("message", *given, "a text of at most 4096 bytes");
  }
  const std::string why = message != nullptr ? *message : "";
  engine::ExitReport exit;
  std::vector<engine::Report> reports;
  if (*name == "invalid_hyperparameters") {
    reports.emplace_back(engine::InvalidHparamsReport{why});
  } else if (*name == "failed") {
    exit.code = 1;
    exit.message = why.empty() ? "its client says that it failed" : why;
  }
  reports.emplace_back(std::move(exit));
  return reports;
}

HttpResponse end_of_lease_answer(const engine::ExperimentRecord& record, engine::TrialNumber trial) {
  return with(200, api::EndedTrial{trial, record.trials[trial.number()].state, record.state});
}

void tell(RequestContext& context, Call call) {
  const auto body = call.object();
  const engine::Status known =
      body ? only(*body, {"lease", "state", "message"}) : engine::Status(body.error());
  const auto lease = known ? lease_in(*body) : Result<engine::LeaseId>(known.error());
  auto reports = lease ? end_in(*body) : Result<std::vector<engine::Report>>(lease.error());
  if (!reports) {
    call.reply(failure(reports.error()));
    return;
  }
  const auto show = [&context, call](const Runtime::Outcome&) {
    return end_of_lease_answer(*context.runtime.engine().find(call.experiment()), call.trial());
  };
  const auto record = context.experiment_with_trial(call);
  const auto held = held_by(context, call, *lease);
  if (!held) {
    // An earlier request ended it, and the client may not have got the answer.
    const bool has_ended = record && (*record)->trials[call.trial().number()].last_lease == *lease &&
                           (*record)->trials[call.trial().number()].exited;
    context.answer(call, has_ended ? show({}) : failure(held.error()));
    return;
  }
  context.perform_and_show(
      call, engine::TakeReports{(*held)->worker, (*held)->key, (*held)->applied_seq + 1, *std::move(reports)},
      show);
}

constexpr QueryParameter report_query[] = {
    {"wait", QueryParameter::Kind::whole_number,
     "Seconds to wait for the verdict at the trial's length; then the answer is 202.", 0, most_wait_seconds},
};

constexpr Route ask_table[] = {
    {"POST",
     "/api/v1/experiments/{experiment}/ask",
     Role::submit,
     &ask,
     {"ask_trials", "ask and tell", "Leases trials to a client that runs them itself",
      api::schema_of<api::AskedTrials>, api::schema_of<api::TrialsWanted>}},
    {"POST",
     "/api/v1/experiments/{experiment}/trials/{trial}/report",
     Role::submit,
     &report,
     {.id = "report_metrics",
      .tag = "ask and tell",
      .summary = "Takes metrics of a leased trial, and says how it goes on",
      .answer = api::schema_of<api::TrialVerdict>,
      .body = api::schema_of<api::MetricsOfLease>,
      .not_yet = 202},
     report_query},
    {"POST",
     "/api/v1/experiments/{experiment}/trials/{trial}/tell",
     Role::submit,
     &tell,
     {"tell_trial", "ask and tell", "Ends the lease of a trial", api::schema_of<api::EndedTrial>,
      api::schema_of<api::EndOfLease>}},
};

}  // namespace

std::span<const Route> ask_routes() noexcept {
  return ask_table;
}

}  // namespace hpsearch::daemon
