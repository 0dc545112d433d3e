#include "daemon/http/http_request_context.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/experiment/workspace.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::daemon {

using engine::ExperimentRecord;
using net::HttpRequest;

Result<Value> json_object(const std::string& body) {
  Result<Value> value = proto::parse_json(body.empty() ? "{}" : body);
  if (!value) {
    return Error{Errc::bad_request, value.error().message};
  }
  if (value->as_map() == nullptr) {
    return Error{Errc::bad_request, "the body has to be a JSON object"};
  }
  return value;
}

Result<Value> Call::object() const {
  return json_object(request.body);
}

bool is_yaml(const HttpRequest& request) noexcept {
  const std::string_view type = request.header("Content-Type");
  return type.substr(0, type.find(';')) == yaml_type;
}

HttpResponse no_room(const Storage& storage) {
  return failure(507, Error{Errc::unavailable, storage.why});
}

bool may_use_context(const RequestContext& context, const Caller& caller, const std::string& digest) {
  Contexts* contexts = context.about.contexts;
  if (contexts == nullptr || !contexts->find(digest)) {
    return false;
  }
  if (contexts->was_brought_by(digest, key_owner(caller)) || caller.scope.is_all()) {
    return true;
  }
  const auto& workspaces = context.runtime.engine().workspaces();
  const auto& names = caller.scope.names();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto workspace = workspaces.find(name);
    return workspace != workspaces.end() && workspace->second.contexts.contains(digest);
  });
}

Result<std::uint64_t> context_bytes(const RequestContext& context, const Caller& caller,
                                    const std::string& digest) {
  if (!may_use_context(context, caller, digest)) {
    return Error{Errc::wrong_state,
                 "the daemon does not have the context " + digest + "; PUT it to /api/v1/contexts/ first"};
  }
  return *context.about.contexts->find(digest);
}

Value integer(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}

std::optional<std::uint64_t> read_number(std::string_view text) {
  return engine::number_in<std::uint64_t>(text);
}

std::optional<double> read_real(std::string_view text) {
  const auto number = engine::number_in<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

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

void RequestContext::answer(const Call& call, HttpResponse response) {
  if (runtime.stalled()) {
    call.reply(no_room(runtime.storage()));
    return;
  }
  runtime.when_durable([reply = call.reply, response = std::move(response)] { reply(response); });
}

void RequestContext::answer_beside(const Call& call, std::function<HttpResponse()> make) {
  when_durable(call, [reads = reads.get(), reply = call.reply, make = std::move(make)] {
    reads->run([reply, make]() -> net::Background::Afterwards {
      auto response = std::make_shared<HttpResponse>(make());
      return [reply, response] { reply(std::move(*response)); };
    });
  });
}

void RequestContext::when_durable(const Call& call, std::function<void()> then) {
  if (runtime.stalled()) {
    call.reply(no_room(runtime.storage()));
    return;
  }
  runtime.when_durable(std::move(then));
}

void RequestContext::answer(const Call& call, const Result<Value>& value) {
  answer(call, value ? with(200, *value) : failure(value.error()));
}

void RequestContext::read(const Call& call, std::function<Committer::Then(EventStore&)> job) {
  if (runtime.stalled()) {
    call.reply(no_room(runtime.storage()));
  } else {
    runtime.read(std::move(job));
  }
}

Error no_experiment(engine::ExperimentId id) {
  return {Errc::not_found, "there is no experiment " + std::to_string(id.number())};
}

bool may_see(const Caller& caller, const ExperimentRecord& record) {
  return caller.scope.has(engine::workspace_of(record.config));
}

Error RequestContext::missing(const Caller& caller, engine::ExperimentId id) const {
  const auto deleted = runtime.engine().deleted().find(id);
  const bool may_know =
      deleted != runtime.engine().deleted().end() && caller.scope.has(deleted->second.workspace);
  return may_know ? runtime.engine().no_experiment(id) : no_experiment(id);
}

Result<const ExperimentRecord*> RequestContext::experiment(const Call& call) const {
  const ExperimentRecord* record = runtime.engine().find(call.experiment());
  if (record == nullptr) {
    return missing(call.caller, call.experiment());
  }
  return record;
}

Result<const ExperimentRecord*> RequestContext::experiment_with_trial(const Call& call) const {
  auto record = experiment(call);
  if (record && call.trial().number() >= (*record)->trials.size()) {
    return Error{Errc::not_found, "experiment " + std::to_string(call.numbers.at(0)) + " has no trial " +
                                      std::to_string(call.numbers.at(1))};
  }
  return record;
}

void RequestContext::perform(const Call& call, engine::Command command, std::function<HttpResponse()> shown) {
  if (runtime.stalled()) {
    call.reply(no_room(runtime.storage()));
    return;
  }
  if (call.is_done) {
    runtime.when_durable([reply = call.reply, response = shown()] { reply(response); });
    return;
  }
  Runtime::Answer answer = [this, reply = call.reply,
                            shown = std::move(shown)](const Result<Runtime::Outcome>& outcome) {
    if (!outcome) {
      reply(failure(outcome.error()));
      return;
    }
    // Other requests may have changed it since the commit: wait for those changes, too.
    runtime.when_durable([reply, response = shown()] { reply(response); });
  };
  // The outcome is answered when it is durable, and not before.
  static_cast<void>(runtime.perform(std::move(command), std::move(answer), call.name, actor_of(call.caller)));
}

void RequestContext::perform(engine::Command command, Runtime::Answer answer,
                             std::optional<AnsweredRequests::Name> name) {
  // The outcome is answered when it is durable, and not before.
  static_cast<void>(runtime.perform(std::move(command), std::move(answer), std::move(name)));
}

void RequestContext::perform_and_show(const Call& call, engine::Command command,
                                      std::function<HttpResponse(const Runtime::Outcome&)> show) {
  if (runtime.stalled()) {
    call.reply(no_room(runtime.storage()));
    return;
  }
  auto shown = std::make_shared<std::optional<HttpResponse>>();
  const auto outcome = runtime.perform(
      std::move(command),
      [reply = call.reply, shown, show](const Result<Runtime::Outcome>& durable) {
        if (!durable) {
          reply(failure(durable.error()));
        } else {
          reply(*shown ? *std::move(*shown) : show(*durable));
        }
      },
      call.name);
  if (outcome) {
    *shown = show(*outcome);
  }
}

}  // namespace hpsearch::daemon
