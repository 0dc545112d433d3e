#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/http/http_pages.hpp"
#include "daemon/http/http_request_context.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"
#include "hpsearch/proto/api/schema.hpp"
#include "hpsearch/proto/api/workers.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/sentences/stored_sentence.hpp"
#include "hpsearch/proto/sentences/wait.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::uint64_t most_slots_listed = 500;

/// Removes attempts of experiments that are not in the scope.
void leave_out_others(const RequestContext& context, const Scope& scope, api::Worker& worker) {
  const auto is_of_others = [&](const api::AttemptName& attempt) {
    const auto* record = context.runtime.engine().find(attempt.experiment);
    return record == nullptr || !scope.has(engine::workspace_of(record->config));
  };
  std::erase_if(worker.attempts, is_of_others);
  std::erase_if(worker.loads, is_of_others);
  std::erase_if(worker.leaked_processes, is_of_others);
  std::erase_if(worker.on_hold, is_of_others);
}

Value forgotten_value(engine::WorkerId id, const engine::ForgottenWorker& worker) {
  return proto::encode_value(api::ForgottenWorker{id, worker.name});
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
    if (!engine::is_external(next->second)) {
      page->add(next->first.number(), worker_now(context, next->second, call.language(), call.caller.scope));
    }
  }
  context.answer(call, page->answer(next != workers.end()));
}

void forgotten_workers(RequestContext& context, Call call) {
  auto page = NumberedPage::of(call, "workers");
  if (!page) {
    context.answer(call, failure(page.error()));
    return;
  }
  const auto& workers = context.runtime.engine().forgotten_workers();
  auto next = workers.upper_bound(engine::WorkerId(page->after()));
  for (; next != workers.end() && page->takes_more(); ++next) {
    page->add(next->first.number(), forgotten_value(next->first, next->second));
  }
  context.answer(call, page->answer(next != workers.end()));
}

void worker(RequestContext& context, Call call) {
  const auto& workers = context.runtime.engine().workers();
  const auto found = workers.find(call.worker());
  context.answer(call, found != workers.end() && !engine::is_external(found->second)
                           ? with(200, worker_now(context, found->second, call.language(), call.caller.scope))
                           : failure(Error{Errc::not_found,
                                           "there is no worker " + std::to_string(call.worker().number())}));
}

void change_worker(RequestContext& context, const Call& call, engine::Command command) {
  context.perform(call, std::move(command), [&context, worker = call.worker(), language = call.language()] {
    return with(200, worker_now(context, context.runtime.engine().workers().at(worker), language));
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

void drain(RequestContext& context, Call call) {
  change_worker(context, call, engine::DrainWorker{call.worker()});
}

void release(RequestContext& context, Call call) {
  change_worker(context, call, engine::ReleaseWorker{call.worker()});
}

void forget(RequestContext& context, Call call) {
  const engine::WorkerId id = call.worker();
  context.perform(call, engine::ForgetWorker{id, "requested by an operator"}, [&context, id] {
    return with(200, forgotten_value(id, context.runtime.engine().forgotten_workers().at(id)));
  });
}

/// The attempt on hold that the path names, with ?lease=N if several have the same number: each time the
/// store was restored, its trial may have begun another one.
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

/// If the call is done, nothing is on hold any more.
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

/// The state of each slot of a worker.
class SlotStates {
 public:
  SlotStates(const RequestContext& context, const Call& call, const engine::WorkerRecord& worker)
      : context_(context),
        scope_(call.caller.scope),
        language_(call.language()),
        worker_(worker),
        connected_(worker.present && context.sessions.connected(worker.id)) {
    const engine::Engine& engine = context.runtime.engine();
    for (const engine::AttemptKey& key : worker.attempts) {
      const engine::TrialRecord* trial = engine.find(key.experiment, key.trial);
      const auto part = trial != nullptr && trial->live ? trial->live->part_on(worker.id) : std::nullopt;
      for (const engine::SlotIndex slot : part ? *part->slots : std::vector<engine::SlotIndex>()) {
        attempts_[slot] = key;
      }
    }
    for (const auto& [key, quarantine] : worker.leaked_processes) {
      if (!quarantine.released) {
        leaked_.insert(quarantine.slots.begin(), quarantine.slots.end());
      }
    }
  }

  [[nodiscard]] api::Slot now(engine::SlotIndex number) const {
    const auto attempt = attempts_.find(number);
    const auto withdrawn = worker_.withdrawn.find(number);
    const bool is_broken = withdrawn != worker_.withdrawn.end() && !withdrawn->second.released;
    const bool is_busy = attempt != attempts_.end();
    const auto taken = worker_.taken.find(number);
    const bool is_taken = !is_busy && connected_ && taken != worker_.taken.end();
    using State = decltype(api::Slot::state);
    const auto* record = is_busy ? context_.runtime.engine().find(attempt->second.experiment) : nullptr;
    const bool is_shown = record != nullptr && scope_.has(engine::workspace_of(record->config));
    api::Slot slot{.worker = worker_.id,
                   .name = worker_.name,
                   .slot = number,
                   .kind = worker_.slot_kind,
                   .pool = std::string(engine::pool_named(worker_.pool))};
    if (number.number() < worker_.devices.size()) {
      slot.device = api::device_of(worker_.devices[number.number()]);
    }
    slot.state = is_busy                        ? State("busy")
                 : is_broken                    ? State("broken")
                 : leaked_.contains(number)     ? State("leaked")
                 : !worker_.quarantined.empty() ? State("quarantined")
                 : worker_.draining             ? State("draining")
                 : !connected_                  ? State("away")
                 : is_taken                     ? State("taken")
                                                : State("free");
    if (is_broken) {
      slot.why = withdrawn->second.why;
    } else if (is_taken) {
      slot.why = sentences::stored_in(language_, taken->second);
    }
    if (is_shown) {
      slot.experiment = attempt->second.experiment;
      slot.trial = attempt->second.trial;
      slot.attempt = attempt->second.attempt;
    }
    return slot;
  }

 private:
  const RequestContext& context_;
  const Scope& scope_;
  Language language_;
  const engine::WorkerRecord& worker_;
  bool connected_;
  std::map<engine::SlotIndex, engine::AttemptKey> attempts_;
  std::set<engine::SlotIndex> leaked_;
};

/// "WORKER.SLOT": the page begins after it.
Result<std::pair<engine::WorkerId, std::uint64_t>> slot_position(std::string_view text) {
  const std::size_t dot = text.find('.');
  const auto worker = read_number(text.substr(0, dot));
  const auto slot = dot == std::string_view::npos ? std::nullopt : read_number(text.substr(dot + 1));
  if (text.empty()) {
    return std::pair(engine::WorkerId(0), std::uint64_t{0});
  }
  if (!worker || !slot || *slot == UINT64_MAX) {
    return Error{Errc::bad_request, "after is \"" + std::string(text.substr(0, 100)) +
                                        "\"; it has to be what `next` of the page before says"};
  }
  return std::pair(engine::WorkerId(*worker), *slot + 1);
}

/// Lists the slots of workers that are not lost, by worker and number. O(slots of the page + attempts of its
/// workers).
void slots(RequestContext& context, Call call) {
  const auto begin = slot_position(call.request.query_or("after", {}));
  const auto limit = number_of(call.request, "limit", most_slots_listed);
  if (const Error* error = first_error(begin, limit)) {
    context.answer(call, failure(*error));
    return;
  }
  const std::uint64_t most = std::clamp<std::uint64_t>(*limit, 1, most_slots_listed);
  const auto& workers = context.runtime.engine().workers();
  api::SlotPage page;
  std::string last;
  for (auto worker = workers.lower_bound(begin->first); worker != workers.end() && !page.next; ++worker) {
    if (!worker->second.present) {
      continue;
    }
    const SlotStates states(context, call, worker->second);
    for (std::uint64_t slot = worker->first == begin->first ? begin->second : 0;
         slot < worker->second.slots.total() && !page.next; ++slot) {
      if (page.slots.size() == most) {
        page.next = last;
        break;
      }
      page.slots.push_back(states.now(engine::SlotIndex(slot)));
      last = std::to_string(worker->first.number()) + "." + std::to_string(slot);
    }
  }
  context.answer(call, with(200, page));
}

constexpr QueryParameter slots_query[] = {after_position, page_limit};
constexpr QueryParameter lease_query[] = {
    {"lease", QueryParameter::Kind::whole_number, "Which one, where several have the same number."}};

constexpr Route worker_table[] = {
    {"GET",
     "/api/v1/slots",
     Role::viewer,
     &slots,
     {"list_slots", "workers", "Lists slots of workers that are not lost", api::schema_of<api::SlotPage>},
     slots_query},
    {"GET",
     "/api/v1/workers/{worker}",
     Role::viewer,
     &worker,
     {"show_worker", "workers", "Describes a worker", api::schema_of<api::Worker>}},
    {"GET",
     "/api/v1/workers",
     Role::viewer,
     &workers,
     {"list_workers", "workers", "Lists workers by number", api::schema_of<api::WorkerPage>},
     page_query},
    {"POST",
     "/api/v1/workers/{worker}/quarantine",
     Role::operate,
     &quarantine,
     {"quarantine_worker", "workers", "Gives a worker no more trials", api::schema_of<api::Worker>,
      api::schema_of<api::QuarantineRequest>}},
    {"POST",
     "/api/v1/workers/{worker}/drain",
     Role::operate,
     &drain,
     {"drain_worker", "workers", "Gives a worker no more trials; those that run there go on",
      api::schema_of<api::Worker>}},
    {"POST",
     "/api/v1/workers/{worker}/release",
     Role::operate,
     &release,
     {"release_worker", "workers", "Gives a worker trials again", api::schema_of<api::Worker>}},
    {"POST",
     "/api/v1/workers/{worker}/forget",
     Role::operate,
     &forget,
     {"forget_worker", "workers", "Removes a lost worker and its key; its name stays in history",
      api::schema_of<api::ForgottenWorker>}},
    {"GET",
     "/api/v1/workers/forgotten",
     Role::viewer,
     &forgotten_workers,
     {"list_forgotten_workers", "workers", "Lists the names of forgotten workers by number",
      api::schema_of<api::ForgottenWorkerPage>},
     page_query},
    {"POST",
     "/api/v1/workers/{worker}/attempts/{experiment}/{trial}/{attempt}/adopt",
     Role::operate,
     &adopt,
     {"adopt_attempt", "workers", "Accepts a held attempt of a worker", api::schema_of<api::Worker>},
     lease_query},
    {"POST",
     "/api/v1/workers/{worker}/attempts/{experiment}/{trial}/{attempt}/disown",
     Role::operate,
     &disown,
     {"disown_attempt", "workers", "Ends a held attempt of a worker", api::schema_of<api::Worker>},
     lease_query},
};

}  // namespace

Value worker_now(const RequestContext& context, const engine::WorkerRecord& record, Language language,
                 const Scope& scope) {
  const auto if_any = [](std::string text) {
    return text.empty() ? std::nullopt : std::optional(std::move(text));
  };
  const WorkerSessions::About about = context.sessions.about(record.id);
  api::Worker worker = api::worker_of(record, language);
  worker.connected = record.present && context.sessions.connected(record.id);
  worker.suspect = record.present && context.runtime.suspect(record.id);
  worker.resting =
      if_any(sentences::why_worker_rests(engine::rest_of(record, context.runtime.now()), language));
  worker.probation = if_any(sentences::probation_text(record, context.runtime.now(), language));
  worker.kills_by = about.kills_by;
  worker.host = if_any(about.host);
  worker.version = if_any(about.version);
  if (const auto heard = context.sessions.heard_at(record.id)) {
    worker.heard_at = static_cast<double>(heard->micros()) / 1e6;
  }
  worker.checkpoint_problem = if_any(context.sessions.checkpoint_problem(record.id));
  for (const engine::HeldAttempt& held : context.sessions.on_hold(record.id)) {
    worker.on_hold.push_back({{held.key.experiment, held.key.trial, held.key.attempt},
                              held.key.lease.number(),
                              engine::label_of(held.key),
                              held.exited});
  }
  if (worker.connected) {
    for (const auto& [key, heard] : context.sessions.last_activity(record.id)) {
      if (heard.utilization && record.attempts.contains(key)) {
        worker.loads.push_back(api::load_of(key, *heard.utilization));
      }
    }
  }
  if (!scope.is_all()) {
    leave_out_others(context, scope, worker);
  }
  return proto::encode_value(worker);
}

std::span<const Route> worker_routes() noexcept {
  return worker_table;
}

}  // namespace hpsearch::daemon
