#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/core/committer.hpp"
#include "daemon/core/store_executor.hpp"
#include "daemon/http/answered_requests.hpp"
#include "daemon/metrics/event_counts.hpp"
#include "daemon/store/event_store.hpp"
#include "hpsearch/engine/cluster/liveness.hpp"
#include "hpsearch/engine/engine.hpp"
#include "hpsearch/io/net/timeline.hpp"
#include "hpsearch/proto/views/metric_names.hpp"
#include "hpsearch/proto/views/worker_times.hpp"

namespace hpsearch::daemon {

class StoredEvents;

/// Which input is accepted, depending on the room to store it.
enum class Intake : std::uint8_t {
  everything,
  no_experiments,  ///< No new experiments.
  what_ends,  ///< Also no reports of workers, which keep them, except about programs that were ordered to
              ///< end.
  nothing,    ///< Not even requests that make room: they could not be stored.
};

/// The state of the store's disk at the last check.
struct Storage {
  std::string state = "ample";  ///< A Room's name, "full", or "away": the store's database doesn't answer.
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t store_bytes = 0;  ///< Size of the store's file.
  std::uint64_t wal_bytes = 0;    ///< Size of its write-ahead log.
  Intake intake = Intake::everything;
  std::string why;  ///< Why not everything is accepted.
};

/// The loop around the engine: a command goes in, its events are made durable, and only then its orders and
/// its answer are sent, in the order of the commands.
///
/// Owns:    the engine, and the store's executor.
/// Threads: call it on the loop's.
class Runtime {
 public:
  /// Results of a command, besides its orders.
  struct Outcome {
    std::optional<engine::ExperimentId> created;
    std::optional<engine::WorkerId> joined;
    std::vector<engine::AttemptKey> asked{};
  };
  using Answer = std::function<void(const engine::Result<Outcome>&)>;
  using OnOrder = std::function<void(const engine::Order&)>;

  /// Loop and store must outlive this. `registry` has the searchers; `employ` makes the executor that waits
  /// for the store's disk.
  Runtime(net::Timeline& loop, EventStore& store, engine::SearcherRegistry registry,
          engine::Patience patience, EmployStoreExecutor employ = on_a_thread_of_its_own);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  /// Recovers by replaying the log. Must be called first. After that every known worker counts as alive now,
  /// but gets no lease before it connects again.
  /// `progress` is called from time to time with the last event that was replayed.
  engine::Status recover(const std::function<void(engine::Lsn)>& progress = {});

  /// Begins to accept commands. `on_order` carries an order out; `failed` is called when the store accepts
  /// nothing more, `full` when it lacks room and everything waits.
  void start(
      OnOrder on_order, Committer::Failed failed, Committer::Failed full = [](const engine::Error&) {});
  /// Stops checking the clock. Commands already given are still made durable.
  void stop();

  /// Performs `command` in the engine now, and returns the outcome, which must not leave the process yet;
  /// `answer` is called with it later, when it is durable. A refusal, too, is answered only when everything
  /// that it may depend on is durable. `request` names the client's request: the log records it in the same
  /// commit. `actor`: who made the request, as events name it; "" = not known.
  engine::Result<Outcome> perform(engine::Command command, Answer answer = {},
                                  std::optional<AnsweredRequests::Name> request = {},
                                  const std::string& actor = {});

  /// Calls `watcher` with every event from now on, after it was applied and before it is durable, for as long
  /// as the Watch lives.
  [[nodiscard]] net::Watch watch_events(std::function<void(const engine::Event&)> watcher);

  /// Runs `then` when everything that the engine shows now is durable.
  void when_durable(std::function<void()> then);
  void read(std::function<Committer::Then(EventStore&)> job) { committer_->read(std::move(job)); }
  /// Passes all events that become durable from now on to `observer`, in order, on another thread:
  /// Committer::observe(). There is one, that of stored_events().
  void observe_stored(Committer::Observer observer);
  [[nodiscard]] StoredEvents& stored_events() noexcept { return *stored_events_; }
  [[nodiscard]] bool idle() const noexcept { return committer_->idle() && outgoing_.empty(); }

  /// True while nothing can be made durable for lack of room or of a database, and all commits wait.
  [[nodiscard]] bool stalled() const noexcept { return committer_ != nullptr && committer_->stalled(); }
  void set_storage(Storage storage) { storage_ = std::move(storage); }
  [[nodiscard]] const Storage& storage() const noexcept { return storage_; }

  // --- workers: their signs of life are not stored ---

  void connected(engine::WorkerId worker);  ///< The worker may get new leases from the next step on.
  void disconnected(engine::WorkerId worker);
  void heard(engine::WorkerId worker);
  void set_draining(engine::WorkerId worker,
                    bool draining);  ///< The worker takes no leases any more, connected or not.
  /// Slots of the worker with this uid that other searches of its machine have: all of them. The next step
  /// offers those that are free again.
  void set_taken(const std::string& uid, const std::vector<engine::SlotTrouble>& taken);
  [[nodiscard]] bool suspect(engine::WorkerId worker) const;
  /// How long workers may be silent from now on.
  void set_patience(engine::Patience patience) { liveness_.set_patience(patience); }

  /// Requests of clients, from the log, with their answers.
  [[nodiscard]] AnsweredRequests& requests() noexcept { return requests_; }

  // --- queries ---

  [[nodiscard]] const engine::Engine& engine() const noexcept { return engine_; }
  [[nodiscard]] std::optional<engine::WorkerId> worker_with_uid(const std::string& uid) const;
  [[nodiscard]] const views::MetricNames& metric_names() const noexcept { return metric_names_; }
  [[nodiscard]] const views::WorkerTimes& worker_times() const noexcept { return worker_times_; }
  /// The event that last changed the experiment's state, limits or program; events of its trials don't count.
  [[nodiscard]] engine::Lsn last_change_of(engine::ExperimentId experiment) const;
  [[nodiscard]] engine::SearcherRegistry registry() const noexcept { return registry_; }
  [[nodiscard]] engine::Instant now() const noexcept { return loop_.now(); }
  [[nodiscard]] net::Timeline& loop() noexcept { return loop_; }
  [[nodiscard]] std::uint64_t cluster() const noexcept { return cluster_; }
  [[nodiscard]] std::uint64_t daemon_epoch() const noexcept { return daemon_epoch_; }
  [[nodiscard]] double recovery_seconds() const noexcept { return recovery_seconds_; }
  [[nodiscard]] double engine_seconds() const noexcept { return engine_seconds_; }
  [[nodiscard]] const Histogram<decision_bounds.size()>& step_seconds() const noexcept {
    return step_seconds_;
  }
  [[nodiscard]] const EventCounts& event_counts() const noexcept { return event_counts_; }
  [[nodiscard]] Committer::Counters store_counters() const { return committer_->counters(); }

 private:
  /// Orders and answers of a step, to be sent once it is durable.
  struct Outgoing {
    std::vector<engine::Order> orders;
    std::size_t next = 0;
    Answer answer;
    Outcome outcome;
  };

  void note(const engine::Event& event);
  /// Carries out orders and answers in the order of their steps, a limited number in each turn of the loop.
  void send_some();
  void check_timers();
  /// Time budgets end at their exact time, not at the next check.
  void arm_deadline();
  /// Records the time in the log while a budget or a pause runs: a restart continues from its last event.
  void note_time(engine::Instant now);
  /// Logs that the wall clock was set: no timer follows it, and users should know.
  void note_wall_clock();
  /// A longer gap between checks means that the daemon stood still.
  [[nodiscard]] engine::Duration own_silence() const;
  /// Ends the leases of a silent worker whose time is up.
  void expire(const engine::Silence& silence);
  void update_suspicion(engine::Instant now);
  /// The worker must get no new lease: it is silent, disconnected or about to leave.
  [[nodiscard]] bool is_unfit(engine::WorkerId worker, engine::Instant now) const;

  net::Timeline& loop_;
  EventStore& store_;
  engine::SearcherRegistry registry_;
  EmployStoreExecutor employ_;
  engine::Engine engine_;
  engine::Liveness liveness_;
  std::map<std::string, engine::WorkerId> worker_by_uid_;
  views::MetricNames metric_names_;
  views::WorkerTimes worker_times_;
  using EventWatchers = std::map<std::uint64_t, std::function<void(const engine::Event&)>>;
  std::shared_ptr<EventWatchers> event_watchers_ = std::make_shared<EventWatchers>();
  std::uint64_t last_watcher_ = 0;
  AnsweredRequests requests_;
  std::map<engine::ExperimentId, engine::Lsn> last_changes_;
  std::set<engine::WorkerId> connected_;
  std::set<engine::WorkerId> draining_;  ///< Workers that announced that they leave.
  std::uint64_t cluster_;
  std::uint64_t daemon_epoch_;
  double recovery_seconds_ = 0;
  double engine_seconds_ = 0;
  Histogram<decision_bounds.size()> step_seconds_{decision_bounds};
  EventCounts event_counts_;
  Storage storage_;
  OnOrder on_order_;
  std::deque<std::shared_ptr<Outgoing>> outgoing_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // Posted work may outlive this object.
  engine::Instant last_look_;
  engine::Duration wall_ahead_;  ///< As it was last recorded.
  net::Watch clock_;
  std::optional<engine::Instant> armed_for_;
  bool waits_for_store_ = false;  // If so, due steps continue when the store has caught up.
  net::Watch deadline_;
  std::unique_ptr<Committer> committer_;
  std::unique_ptr<StoredEvents> stored_events_;
};

}  // namespace hpsearch::daemon
