#include "daemon/core/runtime.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "daemon/streams/stored_events.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/io/net/log.hpp"

namespace hpsearch::daemon {
namespace {

template <class Event, class... Kinds>
constexpr bool is_one_of = (std::is_same_v<Event, Kinds> || ...);

/// The experiment whose state, limits or program the event changes.
std::optional<engine::ExperimentId> changed_experiment(const engine::EventBody& body) {
  return std::visit(
      []<class Event>(const Event& event) -> std::optional<engine::ExperimentId> {
        if constexpr (is_one_of<Event, engine::ExperimentCreated, engine::ExperimentPaused,
                                engine::ExperimentResumed, engine::LimitsChanged, engine::ExperimentReopened,
                                engine::ProgramChanged, engine::ExperimentArchived,
                                engine::ExperimentUnarchived, engine::ExperimentDeleted, engine::Annotated,
                                engine::ExperimentStopping, engine::ExperimentEnded>) {
          return event.experiment;
        } else {
          return std::nullopt;
        }
      },
      body);
}

using engine::Duration;
using engine::Status;

constexpr std::chrono::seconds look_every{1};
constexpr std::uint64_t events_between_progress = 4'096;  // A replay takes some ten milliseconds for these.
constexpr std::size_t workers_a_second = 1'000;           // Workers checked per second: about a millisecond.
constexpr std::size_t most_waiting = 8;                   // Steps whose events are not stored yet.
constexpr std::size_t most_orders = 128;  // Orders sent in one turn of the loop: each is encoded and sent.

// The clock is checked every second. If the gap is much longer, the daemon itself stood still (stopped,
// swapped out, suspended), and the silence of workers means nothing: their messages wait unread. A gap is
// long if it exceeds half of the shortest silence limit, or this constant; a gap that is late by less than
// its own length is no standstill.
constexpr Duration longest_own_silence = Duration::seconds(15);
constexpr Duration shortest_own_silence = Duration::seconds(2);

// The most time that a killed daemon may add to a time budget.
constexpr Duration longest_unnoted_time = Duration::seconds(60);
// A smaller change is a clock that is being kept right.
constexpr std::int64_t smallest_jump_seconds = 2;

std::int64_t whole_seconds(Duration duration) {
  return duration.in_micros() / 1'000'000;
}

}  // namespace

Runtime::Runtime(net::Timeline& loop, EventStore& store, engine::SearcherRegistry registry,
                 engine::Patience patience, EmployStoreExecutor employ)
    : loop_(loop),
      store_(store),
      registry_(registry),
      employ_(std::move(employ)),
      engine_(registry),
      liveness_(patience),
      cluster_(store.cluster()),
      daemon_epoch_(store.daemon_epoch()),
      stored_events_(std::make_unique<StoredEvents>(*this)) {
}

Runtime::~Runtime() = default;

Status Runtime::recover(const std::function<void(engine::Lsn)>& progress) {
  const auto began = std::chrono::steady_clock::now();
  Status replayed = store_.recover([this, &progress](const engine::Event& event) -> Status {
    Status taken = engine_.replay(event);
    if (!taken) {
      return engine::Error{taken.error().code, "event " + std::to_string(event.lsn.number()) +
                                                   " of the log: " + taken.error().message};
    }
    note(event);
    if (progress && event.lsn.number() % events_between_progress == 0) {
      progress(event.lsn);
    }
    return taken;
  });
  if (!replayed) {
    return replayed;
  }
  recovery_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const engine::Instant last = engine_.last_instant();
  loop_.start_clock_at_least(last);
  const engine::Instant present = now();
  wall_ahead_ = loop_.wall_ahead();
  if (const std::int64_t behind = -whole_seconds(wall_ahead_); behind >= smallest_jump_seconds) {
    net::log(net::Level::warning,
             "the wall clock is " + std::to_string(behind) +
                 " s behind the last event of the store; times continue from that event");
  } else if (const std::int64_t away = whole_seconds(present - last);
             engine_.last_lsn() != engine::Lsn{} && away >= smallest_jump_seconds) {
    net::log(net::Level::info, "by the wall clock, the last event of the store is " + std::to_string(away) +
                                   " s old; this time counts for no budget and no delay");
  }
  for (const auto& [id, worker] : engine_.workers()) {
    if (worker.present && !engine::is_external(worker)) {
      liveness_.restored(id, present);
      engine_.set_suspect(id, true);
    }
  }
  return engine::Done{};
}

void Runtime::start(OnOrder on_order, Committer::Failed failed, Committer::Failed full) {
  on_order_ = std::move(on_order);
  committer_ = std::make_unique<Committer>(loop_, store_, std::move(failed), std::move(full), employ_);
  last_look_ = now();
  clock_ = loop_.every(look_every, [this] { check_timers(); });
  // The log may end between an event and the events that follow from it: continue from there.
  static_cast<void>(perform(engine::ContinueTime{}));
}

void Runtime::stop() {
  clock_ = net::Watch{};
  deadline_ = net::Watch{};
}

engine::Result<Runtime::Outcome> Runtime::perform(engine::Command command, Answer answer,
                                                  std::optional<AnsweredRequests::Name> request,
                                                  const std::string& actor) {
  const auto began = std::chrono::steady_clock::now();
  auto stepped = engine_.step(std::move(command), now(), actor);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  engine_seconds_ += seconds;
  step_seconds_.add(seconds);
  if (!stepped) {
    if (answer) {
      committer_->commit({}, [answer = std::move(answer), error = stepped.error()] { answer(error); });
    }
    return stepped.error();
  }
  engine::Effects& effects = *stepped;
  if (request) {
    auto noted =
        engine_.step(engine::NoteRequest{std::move(request->key), std::move(request->request)}, now());
    HPSEARCH_CHECK(noted.has_value(), "a request can always be noted");
    std::move(noted->events.begin(), noted->events.end(), std::back_inserter(effects.events));
    std::move(noted->orders.begin(), noted->orders.end(), std::back_inserter(effects.orders));
  }
  for (const engine::Event& event : effects.events) {
    note(event);
  }
  arm_deadline();
  const Outcome outcome{effects.created, effects.joined, std::move(effects.asked)};
  if (!effects.events.empty() || !effects.orders.empty() || answer) {
    auto outgoing =
        std::make_shared<Outgoing>(Outgoing{std::move(effects.orders), 0, std::move(answer), outcome});
    committer_->commit(std::move(effects.events), [this, outgoing] {
      outgoing_.push_back(outgoing);
      if (outgoing_.size() == 1) {
        send_some();
      }
    });
  }
  return outcome;
}

/// One step may decide an order for each slot of the cluster.
void Runtime::send_some() {
  const std::weak_ptr<bool> alive = alive_;
  std::size_t sent = 0;
  while (!alive.expired() && !outgoing_.empty()) {
    Outgoing& first = *outgoing_.front();
    for (; first.next < first.orders.size() && sent < most_orders; ++sent) {
      on_order_(first.orders[first.next++]);
    }
    if (first.next < first.orders.size()) {
      loop_.post([this, alive] {
        if (!alive.expired()) {
          send_some();
        }
      });
      return;
    }
    const std::shared_ptr<Outgoing> done = std::move(outgoing_.front());
    outgoing_.pop_front();
    if (done->answer) {
      done->answer(done->outcome);
    }
  }
}

void Runtime::arm_deadline() {
  if (waits_for_store_) {
    return;
  }
  const std::optional<engine::Instant> due = engine_.next_deadline();
  if (due && *due <= engine_.last_instant() && committer_->waiting() > most_waiting) {
    // Steps that follow from a step make events as fast as they can. A client's answer then waits until the
    // store has caught up, so the next step begins when the store has stored the waiting events.
    waits_for_store_ = true;
    committer_->commit({}, [this] {
      waits_for_store_ = false;
      if (clock_) {  // The runtime was not stopped meanwhile.
        arm_deadline();
      }
    });
    return;
  }
  if (due == armed_for_) {
    return;
  }
  armed_for_ = due;
  deadline_ = net::Watch{};
  if (due) {
    const std::int64_t left = std::max<std::int64_t>(0, (*due - now()).in_micros());
    deadline_ = loop_.after(std::chrono::microseconds(left), [this] {
      armed_for_.reset();
      static_cast<void>(perform(engine::CheckTimers{}));
    });
  }
}

net::Watch Runtime::watch_events(std::function<void(const engine::Event&)> watcher) {
  struct Kept final : net::Watch::Kept {
    Kept(std::weak_ptr<EventWatchers> all, std::uint64_t number) : watchers(std::move(all)), mine(number) {}
    ~Kept() override {
      if (const auto all = watchers.lock()) {
        all->erase(mine);
      }
    }
    std::weak_ptr<EventWatchers> watchers;
    std::uint64_t mine;
  };
  event_watchers_->emplace(++last_watcher_, std::move(watcher));
  return net::Watch(std::make_unique<Kept>(event_watchers_, last_watcher_));
}

void Runtime::when_durable(std::function<void()> then) {
  committer_->commit({}, std::move(then));
}

void Runtime::observe_stored(Committer::Observer observer) {
  if (committer_ != nullptr) {
    committer_->observe(std::move(observer));
  }
}

void Runtime::connected(engine::WorkerId worker) {
  connected_.insert(worker);
  liveness_.heard(worker, now());
  engine_.set_suspect(worker, draining_.contains(worker));
}

void Runtime::disconnected(engine::WorkerId worker) {
  connected_.erase(worker);
  engine_.set_suspect(worker, true);
}

void Runtime::heard(engine::WorkerId worker) {
  const engine::Instant present = now();
  const bool back = connected_.contains(worker) && liveness_.suspect(worker, present);
  liveness_.heard(worker, present);
  if (back && !draining_.contains(worker)) {
    engine_.set_suspect(worker, false);
    static_cast<void>(perform(engine::CheckTimers{}));  // Offers its free slots again.
  }
}

void Runtime::set_draining(engine::WorkerId worker, bool draining) {
  if (draining ? draining_.insert(worker).second : draining_.erase(worker) > 0) {
    engine_.set_suspect(worker, is_unfit(worker, now()));
  }
}

void Runtime::set_taken(const std::string& uid, const std::vector<engine::SlotTrouble>& taken) {
  engine_.set_taken(uid, taken);
}

bool Runtime::is_unfit(engine::WorkerId worker, engine::Instant present) const {
  return !connected_.contains(worker) || draining_.contains(worker) || liveness_.suspect(worker, present);
}

std::optional<engine::WorkerId> Runtime::worker_with_uid(const std::string& uid) const {
  const auto found = worker_by_uid_.find(uid);
  return found == worker_by_uid_.end() ? std::nullopt : std::optional(found->second);
}

void Runtime::note(const engine::Event& event) {
  event_counts_.note(event);
  const auto* report = std::get_if<engine::ReportTaken>(&event.body);
  metric_names_.note(event, report != nullptr ? engine_.find(report->key.experiment) : nullptr);
  worker_times_.note(event);
  for (const auto& [number, watcher] : *event_watchers_) {
    watcher(event);
  }
  if (const auto* joined = std::get_if<engine::WorkerJoined>(&event.body)) {
    worker_by_uid_[joined->uid] = joined->worker;
  } else if (const auto* forgotten = std::get_if<engine::WorkerForgotten>(&event.body)) {
    std::erase_if(worker_by_uid_, [&](const auto& entry) { return entry.second == forgotten->worker; });
    connected_.erase(forgotten->worker);
    draining_.erase(forgotten->worker);
    liveness_.forget(forgotten->worker);
  } else if (const auto* taken = std::get_if<engine::RequestTaken>(&event.body)) {
    requests_.note(*taken, event.at);
  } else if (const auto experiment = changed_experiment(event.body)) {
    last_changes_[*experiment] = event.lsn;
  }
}

engine::Lsn Runtime::last_change_of(engine::ExperimentId experiment) const {
  const auto found = last_changes_.find(experiment);
  return found == last_changes_.end() ? engine::Lsn() : found->second;
}

bool Runtime::suspect(engine::WorkerId worker) const {
  const auto known = engine_.workers().find(worker);
  if (known != engine_.workers().end() && engine::is_external(known->second)) {
    return false;
  }
  return !connected_.contains(worker) || liveness_.suspect(worker, now());
}

void Runtime::check_timers() {
  const engine::Instant present = now();
  if (present - last_look_ > shortest_own_silence && present - last_look_ > own_silence()) {
    net::log(net::Level::warning, "the daemon was suspended for " +
                                      std::to_string((present - last_look_).in_micros() / 1'000'000) +
                                      " s; timeouts of workers restart now");
    liveness_.did_not_listen(present);
  }
  last_look_ = present;
  for (const engine::Silence& silence : liveness_.silent(present)) {
    expire(silence);
  }
  update_suspicion(present);
  static_cast<void>(perform(engine::CheckTimers{}));
  note_time(present);
  note_wall_clock();
}

void Runtime::note_time(engine::Instant present) {
  if (engine_.next_deadline() && present - engine_.last_instant() >= longest_unnoted_time && !stalled()) {
    static_cast<void>(perform(engine::NoteTime{}));
  }
}

void Runtime::note_wall_clock() {
  const Duration ahead = loop_.wall_ahead();
  const std::int64_t set = whole_seconds(ahead) - whole_seconds(wall_ahead_);
  if (std::abs(set) < smallest_jump_seconds) {
    return;
  }
  wall_ahead_ = ahead;
  net::log(net::Level::warning, "the wall clock was set " + std::to_string(std::abs(set)) + " s " +
                                    (set > 0 ? "forward" : "back") +
                                    "; budgets, delays and timeouts don't follow it");
}

/// Cost: O(experiments).
Duration Runtime::own_silence() const {
  const engine::Patience& patience = liveness_.patience();
  Duration shortest = std::min(patience.suspect_after, patience.lost_after);
  for (const auto& [id, record] : engine_.experiments()) {
    if (!engine::is_ended(record.state)) {
      shortest = std::min(shortest, record.config.lost_after.value_or(shortest));
    }
  }
  return std::min(longest_own_silence, Duration::micros(shortest.in_micros() / 2));
}

void Runtime::expire(const engine::Silence& silence) {
  const engine::WorkerId id = silence.worker;
  const engine::WorkerRecord& worker = engine_.workers().at(id);
  const std::size_t held = worker.attempts.size();
  const bool was_present = worker.present;
  if (was_present) {
    static_cast<void>(
        perform(engine::ExpireLeases{id, silence.heard, liveness_.patience().lost_after, silence.at_least}));
  }
  if (worker.attempts.size() < held) {
    net::log(net::Level::warning,
             "worker \"" + worker.name + "\" is silent; " + std::to_string(held - worker.attempts.size()) +
                 " of its attempts count as lost",
             net::about_worker(worker.name));
  }
  if (!worker.present) {
    if (was_present) {
      net::log(net::Level::warning, "worker \"" + worker.name + "\" is lost: it was silent for too long",
               net::about_worker(worker.name));
    }
    liveness_.forget(id);
  }
}

/// Checks some workers per second: each of 10,000 within 11 s.
void Runtime::update_suspicion(engine::Instant present) {
  const std::uint64_t shares = 1 + engine_.workers().size() / workers_a_second;
  const std::uint64_t turn = static_cast<std::uint64_t>(present.micros() / 1'000'000) % shares;
  for (const auto& [id, worker] : engine_.workers()) {
    if (id.number() % shares == turn && worker.present && !engine::is_external(worker)) {
      engine_.set_suspect(id, is_unfit(id, present));
    }
  }
}

}  // namespace hpsearch::daemon
