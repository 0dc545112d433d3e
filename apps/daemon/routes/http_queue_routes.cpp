#include <string>
#include <utility>

#include "daemon/alloc/allocator.hpp"
#include "daemon/http/http_request_context.hpp"
#include "hpsearch/proto/api/queues.hpp"
#include "hpsearch/proto/api/schema.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::size_t most_allocation_log = std::size_t{64} * 1024;

api::Queue queue_now(const RequestContext& context, const engine::QueueRecord& record, Language language) {
  api::Queue queue = api::queue_of(record, language);
  const auto waiting = context.runtime.engine().trials_waiting_for(record.name);
  queue.trials_waiting = waiting ? *waiting : 0;
  for (api::Allocation& allocation : queue.allocations) {
    const auto name = engine::allocation_named(allocation.name);
    const std::string reason =
        name && context.about.allocator != nullptr ? context.about.allocator->reason_of(*name) : "";
    allocation.waits_for = reason.empty() ? std::nullopt : std::optional(reason);
  }
  const engine::TooLongTrials too_long = context.runtime.engine().too_long_trials_of(record.name);
  queue.trials_too_long = too_long.trials;
  if (too_long.trials > 0) {
    queue.time_needed = too_long.needed.in_seconds();
  }
  return queue;
}

/// The queue that the path names, or why there is none.
Result<const engine::QueueRecord*> queue_in(const RequestContext& context, const Call& call) {
  const auto& queues = context.runtime.engine().queues();
  const auto found = queues.find(call.word);
  if (found == queues.end()) {
    return Error{Errc::not_found, "there is no queue \"" + call.word + "\""};
  }
  return &found->second;
}

Error no_allocator() {
  return Error{Errc::wrong_state, "this daemon asks no other scheduler for allocations"};
}

template <class Body>
Result<Body> queue_body(const Call& call) {
  const Result<Value> body = call.object();
  if (!body) {
    return body.error();
  }
  auto read = proto::decode_value<Body>(*body);
  return read ? std::move(read) : Result<Body>(Error{Errc::bad_request, read.error().message});
}

/// Shows the queue as it is when the command is durable; one that went with it is shown without anything.
void change_queue(RequestContext& context, const Call& call, const std::string& name, unsigned status,
                  engine::Command command) {
  context.perform(call, std::move(command), [&context, name, status, language = call.language()] {
    const auto& queues = context.runtime.engine().queues();
    const auto found = queues.find(name);
    return with(status, found == queues.end() ? api::Queue{.name = name, .state = "removed"}
                                              : queue_now(context, found->second, language));
  });
}

void list_queues(RequestContext& context, Call call) {
  api::QueueList list;
  for (const auto& [name, queue] : context.runtime.engine().queues()) {
    list.queues.push_back(queue_now(context, queue, call.language()));
  }
  context.answer(call, with(200, list));
}

void show_queue(RequestContext& context, Call call) {
  const auto queue = queue_in(context, call);
  context.answer(call,
                 queue ? with(200, queue_now(context, **queue, call.language())) : failure(queue.error()));
}

/// Checks the settings before the engine sees them.
engine::Status may_have_settings(const RequestContext& context, const engine::QueueSettings& settings) {
  return context.about.allocator == nullptr ? engine::Status(no_allocator())
                                            : context.about.allocator->may_add(settings);
}

void add_queue(RequestContext& context, Call call) {
  const auto body = queue_body<api::QueueRequest>(call);
  if (!body) {
    call.reply(failure(body.error()));
    return;
  }
  const engine::QueueSettings settings = api::settings_of(body->settings);
  if (const engine::Status may = may_have_settings(context, settings); !may) {
    call.reply(failure(may.error()));
    return;
  }
  change_queue(context, call, body->name, 201, engine::AddQueue{body->name, settings});
}

void change_queue_settings(RequestContext& context, Call call) {
  const auto body = queue_body<api::QueueSettings>(call);
  if (!body) {
    call.reply(failure(body.error()));
    return;
  }
  const engine::QueueSettings settings = api::settings_of(*body);
  if (const engine::Status may = may_have_settings(context, settings); !may) {
    call.reply(failure(may.error()));
    return;
  }
  change_queue(context, call, call.word, 200, engine::ChangeQueue{call.word, settings});
}

void pause_queue(RequestContext& context, Call call) {
  change_queue(context, call, call.word, 200, engine::PauseQueue{call.word});
}

void resume_queue(RequestContext& context, Call call) {
  change_queue(context, call, call.word, 200, engine::ResumeQueue{call.word});
}

void remove_queue(RequestContext& context, Call call) {
  const auto body = queue_body<api::QueueRemoval>(call);
  if (!body) {
    call.reply(failure(body.error()));
    return;
  }
  change_queue(context, call, call.word, 200, engine::RemoveQueue{call.word, body->at_once});
}

void check_queue(RequestContext& context, Call call) {
  const auto body = queue_body<api::QueueRequest>(call);
  const engine::Status may =
      body ? engine::check_settings(api::settings_of(body->settings)) : engine::Status(body.error());
  if (!may || context.about.allocator == nullptr) {
    call.reply(failure(may ? no_allocator() : may.error()));
    return;
  }
  context.about.allocator->check(body->name, api::settings_of(body->settings),
                                 [reply = call.reply](const BackendCheck& check) {
                                   reply(with(200, api::QueueCheck{check.would_start, check.findings}));
                                 });
}

void show_queue_script(RequestContext& context, Call call) {
  const auto queue = queue_in(context, call);
  if (!queue || context.about.allocator == nullptr) {
    call.reply(failure(queue ? no_allocator() : queue.error()));
    return;
  }
  context.answer(
      call,
      with(200, api::QueueText{context.about.allocator->script_of((*queue)->name, (*queue)->settings)}));
}

void show_allocation_log(RequestContext& context, Call call) {
  const auto queue = queue_in(context, call);
  if (!queue || context.about.allocator == nullptr) {
    call.reply(failure(queue ? no_allocator() : queue.error()));
    return;
  }
  context.about.allocator->read_log({(*queue)->name, call.numbers.at(0)}, most_allocation_log,
                                    [reply = call.reply](const engine::Result<std::string>& text) {
                                      reply(text ? with(200, api::QueueText{*text}) : failure(text.error()));
                                    });
}

constexpr Route queue_table[] = {
    {"GET",
     "/api/v1/queues",
     Role::viewer,
     &list_queues,
     {"list_queues", "queues", "Lists the queues of allocations", api::schema_of<api::QueueList>}},
    {"POST",
     "/api/v1/queues",
     Role::operate,
     &add_queue,
     {"add_queue", "queues", "Adds a queue, which asks another scheduler for allocations",
      api::schema_of<api::Queue>, api::schema_of<api::QueueRequest>, 201}},
    {"POST",
     "/api/v1/queues/check",
     Role::operate,
     &check_queue,
     {"check_queue", "queues", "Asks the other scheduler whether an allocation could start; starts none",
      api::schema_of<api::QueueCheck>, api::schema_of<api::QueueRequest>},
     {},
     false},
    {"GET",
     "/api/v1/queues/{queue}",
     Role::viewer,
     &show_queue,
     {"show_queue", "queues", "Describes a queue and its allocations", api::schema_of<api::Queue>}},
    {"PUT",
     "/api/v1/queues/{queue}/settings",
     Role::operate,
     &change_queue_settings,
     {"change_queue", "queues", "Replaces the settings of a queue", api::schema_of<api::Queue>,
      api::schema_of<api::QueueSettings>}},
    {"POST",
     "/api/v1/queues/{queue}/pause",
     Role::operate,
     &pause_queue,
     {"pause_queue", "queues", "Asks for no more allocations", api::schema_of<api::Queue>}},
    {"POST",
     "/api/v1/queues/{queue}/resume",
     Role::operate,
     &resume_queue,
     {"resume_queue", "queues", "Asks for allocations again", api::schema_of<api::Queue>}},
    {"POST",
     "/api/v1/queues/{queue}/remove",
     Role::operate,
     &remove_queue,
     {"remove_queue", "queues", "Removes a queue when its allocations have ended", api::schema_of<api::Queue>,
      api::schema_of<api::QueueRemoval>}},
    {"GET",
     "/api/v1/queues/{queue}/script",
     Role::operate,
     &show_queue_script,
     {"show_queue_script", "queues", "Shows the scripts of an allocation", api::schema_of<api::QueueText>}},
    {"GET",
     "/api/v1/queues/{queue}/allocations/{allocation}/log",
     Role::operate,
     &show_allocation_log,
     {"show_allocation_log", "queues", "Shows what the nodes of an allocation wrote",
      api::schema_of<api::QueueText>}},
};

}  // namespace

std::span<const Route> queue_routes() noexcept {
  return queue_table;
}

}  // namespace hpsearch::daemon
