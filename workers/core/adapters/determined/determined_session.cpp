#include "hpsearch/workers/core/adapters/determined/determined_session.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::workers {

using engine::Duration;
using engine::Instant;
using engine::Result;
using engine::Status;
using engine::Units;
using engine::Value;

namespace {

constexpr Duration poll_every = Duration::seconds(1);
constexpr std::int64_t longest_poll_seconds = 60;
constexpr int run_me_again = 75;  // EX_TEMPFAIL
// The harness also sends the metrics of each batch of a scheduling unit; they are read and ignored.
constexpr proto::JsonLimits body_limits{.bytes = 64UL * 1024 * 1024, .depth = 64, .nodes = 8'000'000};
constexpr std::size_t most_unplaced = 1000;
constexpr std::string_view api = "/api/v1/";

std::string text_of(std::uint64_t number) {
  return std::to_string(number);
}

/// Cuts the first segment of a path off: "trials" of "trials/7/metrics".
std::string_view segment(std::string_view& path) {
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view first = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return first;
}

/// An error in the form that the harness reads; it shows `message` and `error`.
DeterminedReply refusal(DeterminedRequestId request, unsigned status, const std::string& what) {
  Value::Map error{{"code", static_cast<std::int64_t>(status)}, {"reason", what}, {"error", what}};
  return {request, status, engine::compact_json(Value::Map{{"error", std::move(error)}, {"message", what}})};
}

DeterminedReply good(DeterminedRequestId request, const Value& body = Value::Map{}) {
  return {request, 200, engine::compact_json(body)};
}

/// The harness writes numbers that JSON can't express as strings.
std::optional<double> number_of(const Value& value) {
  if (value.is_number()) {
    return value.number_or(0);
  }
  const std::string* text = value.as_text();
  if (text != nullptr && *text == "NaN") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (text != nullptr && (*text == "Infinity" || *text == "-Infinity")) {
    const double infinite = std::numeric_limits<double>::infinity();
    return text->front() == '-' ? -infinite : infinite;
  }
  return std::nullopt;
}

/// Whole numbers are numbers or, if they may need 64 bits, strings.
std::optional<std::uint64_t> count_of(const Value* value) {
  if (value == nullptr) {
    return std::nullopt;
  }
  if (const std::int64_t* integer = value->as_integer()) {
    return *integer < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(*integer));
  }
  const std::string* text = value->as_text();
  return text == nullptr ? std::nullopt : engine::number_in<std::uint64_t>(*text);
}

/// Only values with a number; the harness keeps lists and texts in its TensorBoard files.
Value numbers_in(const Value::Map& metrics) {
  Value::Map numbers;
  for (const auto& [name, value] : metrics) {
    if (const Value::Map* inner = value.as_map()) {
      numbers[name] = numbers_in(*inner);
    } else if (const auto number = number_of(value)) {
      numbers[name] = *number;
    }
  }
  return numbers;
}

Result<Value> body_of(const DeterminedRequest& request) {
  Result<Value> body = proto::parse_json(request.body, body_limits);
  if (!body) {
    return engine::Error{engine::Errc::bad_request, "the body is no JSON: " + body.error().message};
  }
  return body;
}

bool names_a_directory(std::string_view uuid) {
  return !uuid.empty() && uuid.size() <= 128 && std::all_of(uuid.begin(), uuid.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  });
}

}  // namespace

DeterminedSession::DeterminedSession(DeterminedTrial trial)
    : trial_(std::move(trial)), steps_(trial_.unit, trial_.config, trial_.hparams), length_(trial_.length) {
  if (const Value* metric = trial_.config.at_path("searcher.metric");
      metric != nullptr && metric->as_text()) {
    metric_ = *metric->as_text();
  }
  if (const Value* smaller = trial_.config.at_path("searcher.smaller_is_better");
      smaller != nullptr && smaller->as_bool() != nullptr) {
    smaller_is_better_ = *smaller->as_bool();
  }
  const Value& from = trial_.latest_checkpoint;
  if (const Value* uuid = from.at_path("uuid"); uuid != nullptr && uuid->as_text() != nullptr) {
    checkpoints_[*uuid->as_text()] = from;
    const auto steps = count_of(from.at_path("steps_completed"));
    const auto position = count_of(from.at_path("position"));
    if (steps && position) {
      steps_.learn(*steps, static_cast<double>(*position));
    }
  }
}

std::optional<Instant> DeterminedSession::next_wake() const noexcept {
  std::optional<Instant> wake = open_ ? std::nullopt : poll_at_;
  for (const LongPoll& poll : polls_) {
    wake = wake ? std::min(*wake, poll.until) : poll.until;
  }
  return wake;
}

void DeterminedSession::check_timers(Instant now, Effects& out) {
  std::erase_if(polls_, [&](const LongPoll& poll) {
    const bool over = now >= poll.until;
    if (over) {
      out.emplace_back(good(poll.request, Value::Map{{"preempt", false}}));
    }
    return over;
  });
  if (poll_at_ && now >= *poll_at_ && !open_) {
    poll_at_ = now + poll_every;
    ask({About::poll, std::nullopt, R"({"type":"progress"})"}, out);
  }
}

// --- requests ---

void DeterminedSession::asked(const DeterminedRequest& request, Instant now, Effects& out) {
  if (request.authorization != "Bearer " + trial_.token) {
    out.emplace_back(refusal(request.id, 401, "this is not the session of allocation " + trial_.allocation));
    return;
  }
  if (speaks() && !poll_at_ && !leaves()) {
    poll_at_ = now + poll_every;
  }
  std::string_view path = request.path;
  if (path.starts_with(api)) {
    path.remove_prefix(api.size());
    const std::string_view kind = segment(path);
    if (kind == "checkpoints") {
      about_checkpoints(path, request, out);
      return;
    }
    if (kind == "trials" && path == "profiler/metrics") {
      out.emplace_back(good(request.id));
      return;
    }
    const std::string_view id = segment(path);
    if (kind == "trials" && id == text_of(trial_.trial)) {
      about_trial(path, request, out);
      return;
    }
    if (kind == "allocations" && id == trial_.allocation) {
      about_allocation(path, request, now, out);
      return;
    }
    if (kind == "experiments" && id == text_of(trial_.experiment)) {
      about_experiment(path, request, out);
      return;
    }
  }
  out.emplace_back(UnknownRequest{request.method + " " + request.path});
  out.emplace_back(refusal(request.id, 404, request.method + " " + request.path + " is not served here"));
}

void DeterminedSession::about_trial(std::string_view what, const DeterminedRequest& request, Effects& out) {
  const bool post = request.method == "POST";
  const bool get = request.method == "GET";
  if (what.empty() && get) {
    out.push_back(DeterminedReply{request.id, 200, trial_text()});
  } else if (what == "searcher/operation" && get) {
    Value::Map op{{"validateAfter", Value::Map{{"length", text_of(count(length_))}}}};
    out.emplace_back(good(request.id, Value::Map{{"op", std::move(op)}, {"completed", leaves()}}));
  } else if (what == "searcher/completed_operation" && post) {
    complete_operation(request, out);
  } else if (what == "metrics" && post) {
    take_metrics(request, out);
  } else if (what == "progress" && post) {
    take_progress(request, out);
  } else if (what == "early_exit" && post) {
    exit_early(request, out);
  } else if (what == "runner/metadata" && post) {
    out.emplace_back(good(request.id));
  } else {
    out.emplace_back(UnknownRequest{request.method + " " + request.path});
    out.emplace_back(refusal(request.id, 404, request.method + " " + request.path + " is not served here"));
  }
}

void DeterminedSession::about_allocation(std::string_view what, const DeterminedRequest& request, Instant now,
                                         Effects& out) {
  const bool post = request.method == "POST";
  const bool get = request.method == "GET";
  if (what == "signals/preemption" && get) {
    wait_for_preemption(request, now, out);
  } else if (what == "signals/ack_preemption" && post) {
    leaving_ = true;
    out.emplace_back(good(request.id));
  } else if (what == "signals/pending_preemption" && post) {
    preempted_ = true;
    end_polls(out);
    out.emplace_back(good(request.id));
  } else if (what.starts_with("resources/") && what.ends_with("/rendezvous") && get) {
    const Value slots(static_cast<std::int64_t>(trial_.slots));
    Value::Map info{{"addresses", Value::List(trial_.addresses.begin(), trial_.addresses.end())},
                    {"rank", static_cast<std::int64_t>(trial_.rank)},
                    {"slots", Value::List(trial_.addresses.size(), slots)}};
    out.emplace_back(good(request.id, Value::Map{{"rendezvousInfo", std::move(info)}}));
  } else if (post && (what == "notify_container_running" || what == "proxy_address" || what == "all_gather" ||
                      (what.starts_with("resources/") && what.ends_with("/daemon")))) {
    // Only Slurm's nodes find each other this way: here each node gathers only its own data.
    const Result<Value> body = proto::parse_json(request.body, body_limits);
    const Value* data = body ? body->at_path("data") : nullptr;
    Value::List all;
    if (data != nullptr) {
      all.push_back(*data);
    }
    out.emplace_back(good(request.id, Value::Map{{"data", std::move(all)}}));
  } else {
    out.emplace_back(UnknownRequest{request.method + " " + request.path});
    out.emplace_back(refusal(request.id, 404, request.method + " " + request.path + " is not served here"));
  }
}

void DeterminedSession::about_experiment(std::string_view what, const DeterminedRequest& request,
                                         Effects& out) {
  if (what == "model_def" && request.method == "GET") {
    out.emplace_back(ModelToPack{request.id});
  } else if (what == "searcher/best_searcher_validation_metric" && request.method == "GET") {
    // The metric of this attempt: other trials' are unknown here, and a null would break the harness.
    out.emplace_back(best_ ? good(request.id, Value::Map{{"metric", *best_}})
                           : refusal(request.id, 404, "there is no validation yet"));
  } else {
    out.emplace_back(UnknownRequest{request.method + " " + request.path});
    out.emplace_back(refusal(request.id, 404, request.method + " " + request.path + " is not served here"));
  }
}

void DeterminedSession::about_checkpoints(std::string_view what, const DeterminedRequest& request,
                                          Effects& out) {
  if (what.empty() && request.method == "POST") {
    take_checkpoint(request, out);
    return;
  }
  const auto found = checkpoints_.find(std::string(what));
  if (request.method != "GET" || found == checkpoints_.end()) {
    out.emplace_back(
        refusal(request.id, 404, "there is no checkpoint " + std::string(what) + " of this trial"));
    return;
  }
  const auto part = [&](const char* name) {
    const Value* value = found->second.at_path(name);
    return value == nullptr || value->is_null() ? Value(Value::Map{}) : *value;
  };
  Value::Map checkpoint{{"uuid", found->first},         {"resources", part("resources")},
                        {"metadata", part("metadata")}, {"training", part("training")},
                        {"state", "STATE_COMPLETED"},   {"allocationId", trial_.allocation}};
  out.emplace_back(good(request.id, Value::Map{{"checkpoint", std::move(checkpoint)}}));
}

// --- what the harness reports ---

void DeterminedSession::take_metrics(const DeterminedRequest& request, Effects& out) {
  const Result<Value> body = body_of(request);
  const Value* group = body ? body->at_path("group") : nullptr;
  const Value* metrics = body ? body->at_path("metrics.metrics.avgMetrics") : nullptr;
  const auto steps = body ? count_of(body->at_path("metrics.stepsCompleted")) : std::nullopt;
  if (group == nullptr || group->as_text() == nullptr || metrics == nullptr || metrics->as_map() == nullptr ||
      !steps) {
    out.emplace_back(
        refusal(request.id, 400,
                body ? "metrics need a group, metrics.avgMetrics and stepsCompleted" : body.error().message));
    return;
  }
  Value numbers = numbers_in(*metrics->as_map());
  last_steps_ = *steps;
  if (*group->as_text() != "validation") {
    Value::Map apart;
    apart[*group->as_text()] = std::move(numbers);
    report({*steps, std::move(apart), false}, request.id, out);
    return;
  }
  const Value* decisive = numbers.as_map()->find(metric_);
  decisive = decisive == nullptr ? numbers.at_path(metric_) : decisive;
  if (decisive != nullptr) {
    const double value = decisive->number_or(0);
    const bool better = !best_ || (smaller_is_better_ ? value < *best_ : value > *best_);
    if (better && !std::isnan(value)) {
      best_ = value;
    }
  }
  last_ = Measured{*steps, std::move(numbers), decisive != nullptr};
  report(*last_, request.id, out);
}

void DeterminedSession::report(Measured measured, std::optional<DeterminedRequestId> request, Effects& out) {
  const Units step = std::min(steps_.at(measured.steps), length_);
  if (!steps_.known()) {
    unplaced_.push_back(std::move(measured));
    if (unplaced_.size() > most_unplaced) {
      unplaced_.pop_front();
    }
  } else if (measured.decisive && step >= length_) {
    at_length_ = std::move(measured);  // Only the completion of the operation may ask for a decision.
  } else {
    ask({About::metrics, request, report_line(step, std::move(measured.metrics))}, out);
    return;
  }
  if (request) {
    out.emplace_back(good(*request));
  }
}

void DeterminedSession::learn(double position, Effects& out) {
  if (last_steps_) {
    steps_.learn(*last_steps_, position);
  }
  if (steps_.known()) {
    for (Measured& measured : std::exchange(unplaced_, {})) {
      report(std::move(measured), std::nullopt, out);
    }
  }
}

void DeterminedSession::complete_operation(const DeterminedRequest& request, Effects& out) {
  const Result<Value> body = body_of(request);
  const auto length = body ? count_of(body->at_path("op.length")) : std::nullopt;
  const Value* metric = body ? body->at_path("searcherMetric") : nullptr;
  const auto value = metric == nullptr ? std::nullopt : number_of(*metric);
  if (!length || !value) {
    out.emplace_back(refusal(request.id, 400,
                             body ? "searcherMetric is " +
                                        (metric == nullptr ? "missing" : engine::compact_json(*metric)) +
                                        "; it must be a number"
                                  : body.error().message));
    return;
  }
  if (Units{*length} != length_) {
    out.emplace_back(refusal(
        request.id, 400,
        "op.length is " + text_of(*length) + "; the operation is to train to " + text_of(count(length_))));
    return;
  }
  learn(static_cast<double>(*length), out);
  Value metrics = at_length_ ? std::move(at_length_->metrics) : Value(Value::Map{});
  at_length_.reset();
  (*metrics.as_map())[metric_] = *value;
  ask({About::operation, request.id, report_line(length_, std::move(metrics))}, out);
}

void DeterminedSession::take_progress(const DeterminedRequest& request, Effects& out) {
  const Result<Value> body = body_of(request);
  const auto position = body ? number_of(*body) : std::nullopt;
  if (!position || !(*position >= 0)) {
    out.emplace_back(refusal(request.id, 400, "progress must be a number of at least 0"));
    return;
  }
  learn(*position, out);
  Value::Map line{{"type", "progress"}, {"step", *position}};
  ask({About::remark, request.id, engine::compact_json(Value(std::move(line)))}, out);
}

void DeterminedSession::exit_early(const DeterminedRequest& request, Effects& out) {
  const Result<Value> body = body_of(request);
  const Value* reason = body ? body->at_path("reason") : nullptr;
  const std::string text = reason != nullptr && reason->as_text() != nullptr ? *reason->as_text() : "";
  if (text == "EXITED_REASON_INVALID_HP") {
    if (std::exchange(invalid_, true)) {
      out.emplace_back(refusal(request.id, 400, "an early exit was reported before"));
      return;
    }
    Value::Map line{{"type", "invalid_hyperparameters"},
                    {"why", "the program raised determined.InvalidHP; its log says why"}};
    ask({About::invalid, request.id, engine::compact_json(Value(std::move(line)))}, out);
  } else if (text == "EXITED_REASON_USER_REQUESTED_STOP") {
    out.emplace_back(good(request.id));  // It exits long before its length: the trial stops there.
  } else {
    out.emplace_back(
        refusal(request.id, 400,
                "reason is \"" + text +
                    "\"; it must be EXITED_REASON_INVALID_HP or EXITED_REASON_USER_REQUESTED_STOP"));
  }
}

void DeterminedSession::take_checkpoint(const DeterminedRequest& request, Effects& out) {
  const Result<Value> body = body_of(request);
  const Value* uuid = body ? body->at_path("uuid") : nullptr;
  const auto steps = body ? count_of(body->at_path("metadata.steps_completed")) : std::nullopt;
  if (uuid == nullptr || uuid->as_text() == nullptr || !names_a_directory(*uuid->as_text()) || !steps) {
    out.emplace_back(refusal(request.id, 400,
                             body ? "a checkpoint needs a uuid and metadata.steps_completed, a whole number"
                                  : body.error().message));
    return;
  }
  if (taking_) {
    out.emplace_back(refusal(request.id, 409, "another checkpoint of this trial is being taken"));
    return;
  }
  const Units step = std::min(steps_.at(*steps), length_);
  Value::Map record{{"uuid", *uuid},
                    {"steps_completed", static_cast<std::int64_t>(*steps)},
                    {"position", static_cast<std::int64_t>(count(step))}};
  for (const char* key : {"resources", "metadata", "training"}) {
    const Value* part = body->at_path(key);
    record[key] = part == nullptr ? Value(Value::Map{}) : *part;
  }
  Value::Map line{{"type", "checkpoint"}, {"step", static_cast<std::int64_t>(count(step))}};
  taking_ = Question{About::checkpoint, request.id, engine::compact_json(Value(std::move(line)))};
  checkpoints_[*uuid->as_text()] = record;
  out.emplace_back(CheckpointToTake{*uuid->as_text(), std::move(record)});
}

void DeterminedSession::taken(const Status& taken, Effects& out) {
  if (!taking_) {
    return;
  }
  Question question = *std::exchange(taking_, std::nullopt);
  if (taken) {
    ask(std::move(question), out);
  } else {
    out.emplace_back(refusal(*question.request, 500, taken.error().message));
  }
}

void DeterminedSession::wait_for_preemption(const DeterminedRequest& request, Instant now, Effects& out) {
  const std::string& text = request.timeout_seconds;
  const std::int64_t seconds =
      text.empty() ? longest_poll_seconds : engine::number_in<std::int64_t>(text).value_or(-1);
  if (seconds < 0) {
    out.emplace_back(refusal(request.id, 400, "timeout_seconds is \"" + text + "\"; it must be 0 to 60"));
    return;
  }
  if (leaves() || seconds == 0) {
    out.emplace_back(good(request.id, Value::Map{{"preempt", leaves()}}));
    return;
  }
  polls_.push_back({request.id, now + Duration::seconds(std::min(seconds, longest_poll_seconds))});
}

std::string DeterminedSession::trial_text() const {
  Value::Map trial{{"id", static_cast<std::int64_t>(trial_.trial)},
                   {"experimentId", static_cast<std::int64_t>(trial_.experiment)},
                   {"hparams", trial_.hparams},
                   {"restarts", static_cast<std::int64_t>(trial_.run - 1)},
                   {"state", "STATE_RUNNING"},
                   {"totalBatchesProcessed", static_cast<std::int64_t>(last_steps_.value_or(0))}};
  if (last_) {
    trial["latestValidation"] = Value::Map{{"totalBatches", static_cast<std::int64_t>(last_->steps)},
                                           {"metrics", Value::Map{{"avgMetrics", last_->metrics}}},
                                           {"numInputs", 0}};
  }
  return engine::compact_json(Value::Map{{"trial", std::move(trial)}});
}

// --- the worker ---

/// One question at a time, because answers don't name their question.
void DeterminedSession::ask(Question question, Effects& out) {
  if (!speaks()) {
    if (question.request) {
      out.emplace_back(good(*question.request));
    }
    return;
  }
  questions_.push_back(std::move(question));
  ask_next(out);
}

void DeterminedSession::ask_next(Effects& out) {
  if (!open_ && !questions_.empty()) {
    open_ = true;
    out.emplace_back(SendToWorker{questions_.front().line});
  }
}

void DeterminedSession::answered(std::string_view line, Instant now, Effects& out) {
  if (!open_) {
    return;
  }
  const Question question = std::move(questions_.front());
  questions_.pop_front();
  open_ = false;
  const Result<Value> answer = proto::parse_json(line);
  const Value* error = answer ? answer->at_path("error") : nullptr;
  if (!answer || error != nullptr) {
    const std::string what = !answer ? "the worker's answer is unreadable: " + answer.error().message
                             : error->as_text() != nullptr ? *error->as_text()
                                                           : engine::compact_json(*error);
    if (question.request) {
      out.emplace_back(refusal(*question.request, question.about == About::checkpoint ? 500 : 400, what));
    }
  } else {
    on_directive(*answer, out);
    if (question.request) {
      out.emplace_back(good(*question.request));
    }
  }
  poll_at_ = leaves() ? std::nullopt : std::optional(now + poll_every);
  ask_next(out);
}

void DeterminedSession::on_directive(const Value& answer, Effects& out) {
  const Value* directive = answer.at_path("directive");
  const std::string word =
      directive != nullptr && directive->as_text() != nullptr ? *directive->as_text() : "";
  if (word == "pause" || word == "stop") {
    ended_by_answer_ = true;
    end_polls(out);
  }
  if (const auto length = count_of(answer.at_path("length"))) {
    length_ = std::max(length_, Units{*length});
  }
}

void DeterminedSession::end_polls(Effects& out) {
  for (const LongPoll& poll : std::exchange(polls_, {})) {
    out.emplace_back(good(poll.request, Value::Map{{"preempt", true}}));
  }
}

std::string DeterminedSession::report_line(Units step, Value metrics) const {
  Value::Map line{
      {"type", "report"}, {"step", static_cast<std::int64_t>(count(step))}, {"metrics", std::move(metrics)}};
  return engine::compact_json(Value(std::move(line)));
}

void DeterminedSession::ended(Effects& out) {
  if (at_length_ && speaks()) {
    // It measured at its length and exited without completing the operation: this decides, too.
    out.emplace_back(SendToWorker{report_line(length_, std::move(at_length_->metrics))});
    at_length_.reset();
  }
}

int DeterminedSession::exit_status(int status) const noexcept {
  return status == 0 && leaving_ && !ended_by_answer_ && preempted_ ? run_me_again : status;
}

}  // namespace hpsearch::workers
