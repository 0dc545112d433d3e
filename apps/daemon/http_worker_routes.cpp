#include <string>
#include <vector>

#include "daemon/http_pages.hpp"
#include "daemon/http_request_context.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"
#include "hpsearch/proto/client_api.hpp"
#include "hpsearch/proto/json.hpp"
#include "hpsearch/sentences/wait.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Value;

/// Attempts of experiments that are not in the scope.
void leave_out_others(const RequestContext& context, const Scope& scope, Value::Map& worker) {
  for (const char* list : {"attempts", "leaked_processes", "on_hold"}) {
    std::erase_if(*worker[list].as_list(), [&](const Value& attempt) {
      const auto* id = attempt.as_map()->find("experiment")->as_integer();
      const auto* record =
          context.runtime.engine().find(engine::ExperimentId(static_cast<std::uint64_t>(*id)));
      return record == nullptr || !scope.has(engine::workspace_of(record->config));
    });
  }
}

void workers(RequestContext& context, Call call) {
  auto page = NumberedPage::of(call, "workers");
  if (!page) {
    context.answer(call, failure(page.error()));
    return;
  }
  const auto& workers = context.runtime.engine().workers();
  auto next = workers.upper_bound(engine::WorkerId(page->after()));
  for (; next != workers.end() && page->takes_more(); ++next) {
    page->add(next->first.number(), worker_now(context, next->second, call.caller.scope));
  }
  context.answer(call, page->answer(next != workers.end()));
}

void worker(RequestContext& context, Call call) {
  const auto& workers = context.runtime.engine().workers();
  const auto found = workers.find(call.worker());
  context.answer(call, found != workers.end()
                           ? with(200, worker_now(context, found->second, call.caller.scope))
                           : failure(Error{Errc::not_found,
                                           "there is no worker " + std::to_string(call.worker().number())}));
}

void change_worker(RequestContext& context, const Call& call, engine::Command command) {
  context.perform(call, std::move(command), [&context, worker = call.worker()] {
    return with(200, worker_now(context, context.runtime.engine().workers().at(worker)));
  });
}

void quarantine(RequestContext& context, Call call) {
  const auto body = call.object();
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
  change_worker(context, call, engine::QuarantineWorker{call.worker(), text != nullptr ? *text : ""});
}

void release(RequestContext& context, Call call) {
  change_worker(context, call, engine::ReleaseWorker{call.worker()});
}

/// The attempt on hold that the path names, with ?lease=N where it has several of one number: each time the
/// store was brought back, its trial may have begun another.
Result<engine::HeldAttempt> on_hold(RequestContext& context, const Call& call) {
  const Result<std::uint64_t> lease = number_of(call.request, "lease", 0);
  if (!lease) {
    return lease.error();
  }
  std::vector<engine::HeldAttempt> meant;
  std::string leases;
  for (const engine::HeldAttempt& held : context.sessions.on_hold(call.worker())) {
    const bool named = held.key.experiment.number() == call.numbers.at(1) &&
                       held.key.trial.number() == call.numbers.at(2) &&
                       held.key.attempt.number() == call.numbers.at(3);
    if (named && (*lease == 0 || held.key.lease.number() == *lease)) {
      leases += (meant.empty() ? "" : ", ") + std::to_string(held.key.lease.number());
      meant.push_back(held);
    }
  }
  const std::string worker = "worker " + std::to_string(call.worker().number());
  if (meant.empty()) {
    return Error{Errc::not_found, worker + " has no such attempt on hold"};
  }
  if (meant.size() > 1) {
    return Error{Errc::bad_request,
                 worker + " has several attempts of that number on hold; lease has to say which: " + leases};
  }
  return meant.front();
}

/// Of a call that is done: nothing is on hold any more.
void show_worker(RequestContext& context, const Call& call) {
  change_worker(context, call, engine::ReleaseWorker{call.worker()});
}

void adopt(RequestContext& context, Call call) {
  if (call.is_done) {
    show_worker(context, call);
  } else if (const auto held = on_hold(context, call)) {
    change_worker(context, call, engine::AdoptAttempt{call.worker(), *held});
  } else {
    context.answer(call, failure(held.error()));
  }
}

void disown(RequestContext& context, Call call) {
  if (call.is_done) {
    show_worker(context, call);
  } else if (const auto held = on_hold(context, call)) {
    change_worker(context, call, engine::DisownAttempt{call.worker(), held->key});
  } else {
    context.answer(call, failure(held.error()));
  }
}

constexpr QueryParameter lease_query[] = {
    {"lease", QueryParameter::Kind::whole_number, "Which one, where several have the same number."}};

constexpr Route table[] = {
    {"GET",
     "/api/v1/workers/#",
     Role::viewer,
     &worker,
     {"show_worker", "workers", "Describes a worker", "Worker"}},
    {"GET",
     "/api/v1/workers",
     Role::viewer,
     &workers,
     {"list_workers", "workers", "Lists workers by number", "WorkerPage"},
     page_query},
    {"POST",
     "/api/v1/workers/#/quarantine",
     Role::operate,
     &quarantine,
     {"quarantine_worker", "workers", "Gives a worker no more trials", "Worker", "QuarantineRequest"}},
    {"POST",
     "/api/v1/workers/#/release",
     Role::operate,
     &release,
     {"release_worker", "workers", "Gives a worker trials again", "Worker"}},
    {"POST",
     "/api/v1/workers/#/attempts/#/#/#/adopt",
     Role::operate,
     &adopt,
     {"adopt_attempt", "workers", "Accepts a held attempt of a worker", "Worker"},
     lease_query},
    {"POST",
     "/api/v1/workers/#/attempts/#/#/#/disown",
     Role::operate,
     &disown,
     {"disown_attempt", "workers", "Ends a held attempt of a worker", "Worker"},
     lease_query},
};

}  // namespace

Value worker_now(const RequestContext& context, const engine::WorkerRecord& worker, const Scope& scope) {
  Value value = proto::worker_value(worker);
  Value::Map& map = *value.as_map();
  map["connected"] = worker.present && context.sessions.connected(worker.id);
  map["suspect"] = worker.present && context.runtime.suspect(worker.id);
  const std::string rests = sentences::why_worker_rests(engine::rest_of(worker, context.runtime.now()));
  map["resting"] = rests.empty() ? Value() : Value(rests);
  map["kills_by"] = context.sessions.kills_by(worker.id);
  Value::List on_hold;
  for (const engine::HeldAttempt& held : context.sessions.on_hold(worker.id)) {
    on_hold.push_back(Value::Map{{"experiment", integer(held.key.experiment.number())},
                                 {"trial", integer(held.key.trial.number())},
                                 {"attempt", integer(held.key.attempt.number())},
                                 {"lease", integer(held.key.lease.number())},
                                 {"label", engine::label_of(held.key)},
                                 {"exited", held.exited}});
  }
  map["on_hold"] = std::move(on_hold);
  if (!scope.is_all()) {
    leave_out_others(context, scope, map);
  }
  return value;
}

std::span<const Route> worker_routes() noexcept {
  return table;
}

}  // namespace hpsearch::daemon
