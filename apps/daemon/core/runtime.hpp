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

/// What is taken from outside, which depends on the room to store it.
enum class Intake : std::uint8_t {
  everything,
  no_experiments,  ///< No new ones.
  what_ends,       ///< No reports of workers either, which keep them, but of programs that were told to end.
  nothing,         ///< Not even what makes room: it could not be stored.
};

/// The store's disk, as it was looked at last.
struct Storage {
  std::string state = "ample";  ///< A Room's name, or "full".
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t store_bytes = 0;  ///< Of the store's file.
  std::uint64_t wal_bytes = 0;    ///< Of its write-ahead log.
  Intake intake = Intake::everything;
  std::string why;  ///< Why not everything is taken.
};

/// The loop around the engine: a command goes in, its events are made durable, and only then its orders and
/// its answer go out, in the order of the commands.
///
/// Owns:    the engine, and who stores.
/// Threads: everything on the loop's.
class Runtime {
 public:
  /// What a command came to, beside its orders.
  struct Outcome {
    std::optional<engine::ExperimentId> created;
    std::optional<engine::WorkerId> joined;
    std::vector<engine::AttemptKey> asked{};
  };
  using Answer = std::function<void(const engine::Result<Outcome>&)>;
  using OnOrder = std::function<void(const engine::Order&)>;

  /// Loop and store must outlive this. `registry` says which searchers there are, `employ` who waits for the
  /// store's disk.
  Runtime(net::Timeline& loop, EventStore& store, engine::SearcherRegistry registry,
          engine::Patience patience, EmployStoreExecutor employ = on_a_thread_of_its_own);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  /// Start-up is recovery: replays the log. To be called first. After that every
  /// known worker counts as heard now, but gets nothing new before it is connected again.
  engine::Status recover();

  /// Begins to take commands. `on_order` carries an order out; `failed` hears that the store takes nothing
  /// more, `full` that it lacks room and everything waits.
  void start(
      OnOrder on_order, Committer::Failed failed, Committer::Failed full = [](const engine::Error&) {});
  /// Ends the look at the clock. Commands already given are still made durable.
  void stop();

  /// Lets the engine do what `command` asks, now, and returns what came of it, which is not to leave the
  /// process yet; `answer` is told the same, later, when it is durable. A refusal, too, is told only when
  /// everything it may rest on is durable.
  /// `request` is the client's whom it is for: the log has a note of it in the same commit.
  /// `actor`: whose request it is, as events name it; "" = not known.
  engine::Result<Outcome> perform(engine::Command command, Answer answer = {},
                                  std::optional<AnsweredRequests::Name> request = {},
                                  const std::string& actor = {});

  /// Calls `watcher` with every event from now on, after it was applied and before it is durable, for as long
  /// as the Watch lives.
  [[nodiscard]] net::Watch watch_events(std::function<void(const engine::Event&)> watcher);

  /// Runs `then` when everything the engine shows now is durable.
  void when_durable(std::function<void()> then);
  void read(std::function<Committer::Then(EventStore&)> job) { committer_->read(std::move(job)); }
  /// Hands over all events that become durable from now on, in order, on another thread:
  /// Committer::observe().
  void observe_stored(Committer::Observer observer);
  [[nodiscard]] bool idle() const noexcept { return committer_->idle() && outgoing_.empty(); }

  /// While true, nothing can be made durable for lack of room, and everything that has to be waits.
  [[nodiscard]] bool stalled() const noexcept { return committer_ != nullptr && committer_->stalled(); }
  void set_storage(Storage storage) { storage_ = std::move(storage); }
  [[nodiscard]] const Storage& storage() const noexcept { return storage_; }

  // --- workers: what is heard of them is not journaled ---

  void connected(engine::WorkerId worker);  ///< It may get new leases from the next step on.
  void disconnected(engine::WorkerId worker);
  void heard(engine::WorkerId worker);
  void set_draining(engine::WorkerId worker,
                    bool draining);  ///< It takes no leases any more, connected or not.
  [[nodiscard]] bool suspect(engine::WorkerId worker) const;

  /// Requests of clients, as the log has them and as they are answered.
  [[nodiscard]] AnsweredRequests& requests() noexcept { return requests_; }

  // --- queries ---

  [[nodiscard]] const engine::Engine& engine() const noexcept { return engine_; }
  [[nodiscard]] std::optional<engine::WorkerId> worker_with_uid(const std::string& uid) const;
  [[nodiscard]] const views::MetricNames& metric_names() const noexcept { return metric_names_; }
  [[nodiscard]] const views::WorkerTimes& worker_times() const noexcept { return worker_times_; }
  /// The event that last changed the experiment's state, limits or program; what its trials do does not
  /// count.
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
  /// What a step has to tell others, once it is durable.
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
  /// Budgets of time end to the moment, not at the next look.
  void arm_deadline();
  /// The log says how late it is while a budget or a pause runs: a restart continues from its last event.
  void note_time(engine::Instant now);
  /// Somebody has set the wall clock: nothing follows it, and people should know.
  void note_wall_clock();
  /// Looks further apart than this mean that we stood still.
  [[nodiscard]] engine::Duration own_silence() const;
  /// Ends the leases of a silent worker whose time is up.
  void expire(const engine::Silence& silence);
  void update_suspicion(engine::Instant now);
  /// It is to get nothing new: silent, away or about to leave.
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
  std::set<engine::WorkerId> draining_;  ///< Those that said so.
  std::uint64_t cluster_;
  std::uint64_t daemon_epoch_;
  double recovery_seconds_ = 0;
  double engine_seconds_ = 0;
  Histogram<decision_bounds.size()> step_seconds_{decision_bounds};
  EventCounts event_counts_;
  Storage storage_;
  OnOrder on_order_;
  std::deque<std::shared_ptr<Outgoing>> outgoing_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // What was posted may outlive us.
  engine::Instant last_look_;
  engine::Duration wall_ahead_;  ///< As it was noted last.
  net::Watch clock_;
  std::optional<engine::Instant> armed_for_;
  bool waits_for_store_ = false;  // Then what is due at once goes on.
  net::Watch deadline_;
  std::unique_ptr<Committer> committer_;
};

}  // namespace hpsearch::daemon
