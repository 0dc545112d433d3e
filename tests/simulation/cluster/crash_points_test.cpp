// The daemon on its real store is killed, or its machine loses power, before each storage call of a search. It
// recovers and goes on: what it acknowledged is there, it stands where the uninterrupted daemon stood, and decides what
// that one decided. HPSEARCH_CRASH_TRIALS=n searches with n trials, HPSEARCH_CRASH_EVERY=n crashes at every n-th call.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/runtime.hpp"
#include "daemon/store/snapshot_files.hpp"
#include "daemon/store/sqlite_store.hpp"
#include "engine/test_cluster.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/net/log.hpp"
#include "hpsearch/proto/stored.hpp"
#include "simulation/cluster/process.hpp"
#include "simulation/disk/mounted_disk.hpp"
#include "simulation/disk/passing_store.hpp"
#include "simulation/invariants.hpp"

namespace hpsearch::simulation {
namespace {

using engine::Effects;
using engine::Event;
using engine::Value;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Says how much it took to break what is tested, for tests/mutants.
struct Tally {
  const char* what;
  std::uint64_t done = 0;

  ~Tally() {
    if (testing::Test::HasFatalFailure()) {
      std::cout << "broken by " << what << ' ' << done << " of this run" << std::endl;
    }
  }
};

/// What was decided, in order, as text: which trials with which hyperparameters, how far each was let, what ended.
std::string decision_in(const Event& event) {
  const auto bytes = proto::encode_event(event.body);
  const std::string body(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const auto* granted = std::get_if<engine::LeaseGranted>(&event.body)) {
    return "lease of trial " + std::to_string(granted->trial.number()) + " to " +
           std::to_string(engine::count(granted->length));
  }
  const bool decides = std::holds_alternative<engine::TrialCreated>(event.body) ||
                       std::holds_alternative<engine::TrialPromoted>(event.body) ||
                       std::holds_alternative<engine::TrialPaused>(event.body) ||
                       std::holds_alternative<engine::TrialEnded>(event.body) ||
                       std::holds_alternative<engine::LengthReached>(event.body) ||
                       std::holds_alternative<engine::ExperimentEnded>(event.body);
  return decides ? body : "";
}

/// A store that says what it was given and what it has taken.
class WatchedStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;

  engine::Lsn given;
  engine::Lsn taken;
  bool failed = false;
  std::vector<Event> stored;
  std::function<void()> on_stored;

  engine::Status append(std::span<const Event> group) override {
    given = group.back().lsn;
    engine::Status done = PassingStore::append(group);
    failed = failed || (!done && done.error().code != engine::Errc::unavailable);
    if (done) {
      taken = given;
      stored.insert(stored.end(), group.begin(), group.end());
      if (on_stored) {
        on_stored();
      }
    }
    return done;
  }
};

/// A worker with one slot that does what it is told and keeps what was not acknowledged.
class SteadyWorker {
 public:
  struct Held {
    engine::LaunchSpec spec;
    std::uint64_t acked = 0;
    std::vector<engine::Report> reports;  // From the first.
    engine::Lsn last_decision;
    bool exited = false;
  };

  /// `seed` is what its measurements follow from, with the trial and the step.
  explicit SteadyWorker(std::uint64_t seed) : seed_(seed) {}

  void meet(daemon::Runtime& runtime) {
    runtime_ = &runtime;
    engine::JoinWorker join;
    join.uid = join.name = "steady";
    join.incarnation = 1;
    join.slots = 1;
    join.slot_kind = "cpu";
    for (const auto& [key, held] : held_) {
      join.held.push_back({key, held.exited, held.reports.size(), held.last_decision});
    }
    const auto joined = runtime.perform(join);
    ASSERT_TRUE(joined) << joined.error().message;
    id_ = *joined->joined;
    runtime.connected(id_);
    static_cast<void>(runtime.perform(engine::LookAtClock{}));
  }

  void obey(const engine::Order& order) {
    if (const auto* welcome = std::get_if<engine::WelcomeWorker>(&order)) {
      for (const auto& attempt : welcome->attempts) {
        ASSERT_EQ(attempt.fate, engine::WelcomeWorker::Fate::go_on);
        acknowledge(attempt.key, attempt.upto);
        if (held_.contains(attempt.key)) {
          say(attempt.key, attempt.upto + 1);
        }
      }
    } else if (const auto* launch = std::get_if<engine::LaunchAttempt>(&order)) {
      if (held_.try_emplace(launch->spec.key, Held{launch->spec, 0, {}, {}, false}).second) {
        report(launch->spec.key, launch->spec.length);
      }
    } else if (const auto* decide = std::get_if<engine::DecideAttempt>(&order)) {
      Held& held = held_.at(decide->key);
      if (decide->decision.id <= held.last_decision) {
        return;
      }
      held.last_decision = decide->decision.id;
      if (decide->decision.directive == engine::Directive::train_on) {
        report(decide->key, decide->decision.length);
      } else {
        held.exited = true;
        held.reports.emplace_back(engine::ExitReport{});
        say(decide->key, held.reports.size());
      }
    } else if (const auto* ack = std::get_if<engine::AckReports>(&order)) {
      acknowledge(ack->key, ack->upto);
    } else {
      FAIL() << "an order that nothing here gives cause to";
    }
  }

 private:
  void report(const engine::AttemptKey& key, engine::Units step) {
    engine::Draw draw(seed_ + engine::count(step), key.trial, "score");
    held_.at(key).reports.emplace_back(engine::MetricsReport{step, {{"score", draw.unit()}}});
    say(key, held_.at(key).reports.size());
  }
  void say(const engine::AttemptKey& key, std::uint64_t from) {
    const Held& held = held_.at(key);
    if (from <= held.reports.size()) {
      const std::vector<engine::Report> rest(held.reports.begin() + static_cast<std::ptrdiff_t>(from - 1),
                                             held.reports.end());
      static_cast<void>(runtime_->perform(engine::TakeReports{id_, key, from, rest}));
    }
  }
  void acknowledge(const engine::AttemptKey& key, std::uint64_t upto) {
    const auto found = held_.find(key);
    if (found != held_.end()) {
      found->second.acked = std::max(found->second.acked, upto);
      if (found->second.exited && found->second.acked == found->second.reports.size()) {
        held_.erase(found);
      }
    }
  }

  std::uint64_t seed_;
  daemon::Runtime* runtime_ = nullptr;
  engine::WorkerId id_;
  std::map<engine::AttemptKey, Held> held_;
};

/// The store's second thread, right away.
class PromptDisk final : public daemon::StoreExecutor {
 public:
  PromptDisk(Process& process, std::function<bool()> work) : process_(process), work_(std::move(work)) {}
  void wake() override {
    if (!std::exchange(woken_, true)) {
      turn_ = process_.after(std::chrono::microseconds(1), [this] {
        woken_ = false;
        if (work_()) {
          wake();
        }
      });
    }
  }

 private:
  Process& process_;
  std::function<bool()> work_;
  bool woken_ = false;
  net::Watch turn_;
};

// Few enough that a search has many checkpoints, and snapshots enough that a start has little to replay.
constexpr int pages_per_checkpoint = 60;
constexpr std::uint64_t events_per_snapshot = 100;

using BeforeCall = std::function<int(DiskCall call, const std::string& path)>;

/// A daemon and its worker on a disk, until the search has ended, or the store is given up.
class Life {
 public:
  Life(DiskImage& image, SteadyWorker& worker) : disk_(image), worker_(worker), process_(time_) {
    process_.begin(engine::Instant::from_micros(1'000'000));
  }
  ~Life() { disk_.die(); }  // No clean end: nothing is tidied up any more.

  /// `before` hears of each storage call from the opening on.
  engine::Status open(BeforeCall before = {}) {
    disk_.before = std::move(before);
    auto opened = daemon::SqliteStore::open(database, {disk_, pages_per_checkpoint});
    if (!opened) {
      return opened.error();
    }
    store_ = std::make_unique<WatchedStore>(std::move(opened).value());
    runtime_ = std::make_unique<daemon::Runtime>(
        process_, *store_, searchers::registry(), engine::Patience{},
        [this](std::function<bool()> work) -> std::unique_ptr<daemon::StoreExecutor> {
          return std::make_unique<PromptDisk>(process_, std::move(work));
        });
    runtime_->keep_snapshots(snapshots_, events_per_snapshot);
    engine::Status recovered = runtime_->recover();
    store_->taken = store_->given = runtime_->engine().last_lsn();
    return recovered;
  }

  /// A clean end.
  void close() {
    runtime_.reset();
    store_.reset();
  }

  static constexpr const char* database = "/state/events.db";

  [[nodiscard]] MountedDisk& disk() { return disk_; }
  [[nodiscard]] WatchedStore* store() { return store_.get(); }  ///< nullptr before it is open.
  [[nodiscard]] const engine::Engine& engine() const { return runtime_->engine(); }

  void begin(const std::optional<Value>& search) {
    runtime_->start([this](const engine::Order& order) { worker_.obey(order); }, [](const engine::Error&) {});
    if (search) {
      engine::CreateExperiment command;
      command.config = *search;
      command.fallback_name = "crash points";
      command.seed = 11;
      command.idempotency_key = "once";
      ASSERT_TRUE(runtime_->perform(command));
    }
    worker_.meet(*runtime_);
  }
  /// Until it is over, or given up, or so many more events are stored.
  void live(std::size_t events = SIZE_MAX) {
    const std::size_t until = events == SIZE_MAX ? events : store_->stored.size() + events;
    while (!store_->failed && !over() && store_->stored.size() < until && time_.step()) {
    }
  }
  [[nodiscard]] bool over() const {
    const auto& experiments = runtime_->engine().experiments();
    return !experiments.empty() && engine::is_ended(experiments.begin()->second.state) && runtime_->idle();
  }

 private:
  VirtualTime time_;
  MountedDisk disk_;
  daemon::SnapshotFiles snapshots_{"/state/snapshots", disk_};
  std::unique_ptr<WatchedStore> store_;
  SteadyWorker& worker_;
  Process process_;
  std::unique_ptr<daemon::Runtime> runtime_;
};

struct Search {
  const char* name;
  std::function<Value(int trials)> config;
};
void PrintTo(const Search& search, std::ostream* out) {
  *out << search.name;
}

/// What an uninterrupted search stored and decided.
struct Uninterrupted {
  std::vector<std::size_t> events;              ///< Their hashes; the first is event 1.
  std::map<std::uint64_t, std::size_t> stood;   ///< lsn at the end of a group → hash of the engine's standing.
  std::vector<std::string> decided;
  std::vector<std::size_t> decided_upto{0};     ///< How many decisions there are up to event n.
  std::uint64_t calls = 0;
};

std::size_t hash_of(const Event& event) {
  const auto bytes = proto::encode_event(event.body);
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) ^
         static_cast<std::size_t>(event.at.micros());
}

std::size_t standing(const engine::Engine& engine) {
  return std::hash<std::string>{}(engine::fingerprint(engine));
}

void live_uninterrupted(const Value& search, Uninterrupted& calm) {
  DiskImage image("/state");
  SteadyWorker worker(3);
  Life life(image, worker);
  ASSERT_TRUE(life.open());
  engine::Engine fold(searchers::registry());
  life.store()->on_stored = [&] {
    while (calm.events.size() < life.store()->stored.size()) {
      const Event& event = life.store()->stored[calm.events.size()];
      ASSERT_TRUE(fold.replay(event));
      calm.events.push_back(hash_of(event));
      if (std::string decision = decision_in(event); !decision.empty()) {
        calm.decided.push_back(std::move(decision));
      }
      calm.decided_upto.push_back(calm.decided.size());
    }
    calm.stood[fold.last_lsn().number()] = standing(fold);
  };
  life.begin(search);
  life.live();
  ASSERT_TRUE(life.over());
  calm.stood[0] = standing(engine::Engine(searchers::registry()));
  calm.calls = life.disk().calls();
}

/// Crashes a search at each of its storage calls, and looks at what a start on such a disk finds.
class CrashEverywhere {
 public:
  CrashEverywhere(const Value& search, const Uninterrupted& calm, std::uint64_t every)
      : search_(search), calm_(calm), every_(every) {}

  std::uint64_t points = 0;
  std::uint64_t followed = 0;
  std::uint64_t to_the_end = 0;
  std::uint64_t while_recovering = 0;

  void run() {
    DiskImage image("/state");
    SteadyWorker worker(3);
    Life life(image, worker);
    ASSERT_TRUE(life.open([&](DiskCall, const std::string& path) {
      if (life.disk().calls() % every_ == 0 && !testing::Test::HasFatalFailure()) {
        WatchedStore* store = life.store();
        const Known known{life.disk().calls(), store == nullptr ? 0 : store->daemon_epoch(),
                          store == nullptr ? 0 : store->taken.number(), store == nullptr ? 0 : store->given.number()};
        SCOPED_TRACE("crashed before storage call " + std::to_string(known.call) + ", on " + path);
        crash(image, worker, known);
      }
      return 0;
    }));
    life.begin(search_);
    while (!testing::Test::HasFatalFailure() && !life.over()) {
      life.live(1);
    }
    ASSERT_EQ(life.disk().calls(), calm_.calls);
  }

 private:
  struct Known {
    std::uint64_t call;
    std::uint64_t epoch;
    std::uint64_t taken;  ///< Last event that was told to be durable.
    std::uint64_t given;  ///< Last event that was on its way.
  };

  void crash(const DiskImage& image, const SteadyWorker& worker, const Known& known) {
    ++points;
    DiskImage left = image;
    engine::Draw draw(known.call, engine::TrialNumber(0), "crash");
    if (draw.below(4) > 0) {  // Otherwise the process alone is killed, and the kernel goes on.
      left.lose_power(draw);
    }
    std::uint64_t found = 0;
    look(left, known, found);
    if (testing::Test::HasFatalFailure()) {
      return;
    }
    // What follows is a function of what is found: once for each is enough.
    const bool whole = points % 2'999 == 1;
    if (whole || std::exchange(followed_last_, found) != found) {
      follow(left, worker, known, whole);
    }
  }

  /// The store as a start finds it: nothing that was told to be durable is missing, and nothing else is there.
  void look(DiskImage left, const Known& known, std::uint64_t& found) {
    MountedDisk disk(left);
    const auto store = daemon::SqliteStore::open(Life::database, {disk, pages_per_checkpoint});
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_GT((*store)->daemon_epoch(), known.epoch);
    // The log before was looked at after earlier calls; now and then all of it is again.
    const std::uint64_t after = points % 64 == 0 ? 0 : known.taken - std::min<std::uint64_t>(known.taken, 30);
    found = after;
    const engine::Status recovered = (*store)->recover(engine::Lsn(after), [&](Event&& event) -> engine::Status {
      found = event.lsn.number();
      const bool same = found <= calm_.events.size() && hash_of(event) == calm_.events[found - 1];
      return same ? engine::Status(engine::Done{})
                  : engine::Error{engine::Errc::corrupt, "event " + std::to_string(found) + " was never stored"};
    });
    ASSERT_TRUE(recovered) << recovered.error().message;
    ASSERT_TRUE(found == known.taken || found == known.given)
        << "the log ends with event " << found << "; event " << known.taken << " was acknowledged, and up to event "
        << known.given << " was given";
    disk.die();
  }

  /// The daemon starts on it and goes on.
  void follow(const DiskImage& left, const SteadyWorker& worker, const Known& known, bool whole) {
    ++followed;
    to_the_end += whole ? 1U : 0U;
    DiskImage image = left;
    SteadyWorker same = worker;
    Life life(image, same);
    // Some die once more while they recover.
    const bool again = followed % 50 == 0;
    const engine::Status opened = life.open([&](DiskCall, const std::string&) {
      if (again && !testing::Test::HasFatalFailure()) {
        ++while_recovering;
        DiskImage twice = image;
        engine::Draw draw(while_recovering, engine::TrialNumber(0), "again");
        twice.lose_power(draw);
        std::uint64_t found = 0;
        look(twice, known, found);
      }
      return 0;
    });
    ASSERT_TRUE(opened) << opened.error().message;
    life.disk().before = {};
    const std::uint64_t lsn = life.engine().last_lsn().number();
    ASSERT_TRUE(calm_.stood.contains(lsn)) << "event " << lsn << " is in the middle of a group";
    ASSERT_EQ(standing(life.engine()), calm_.stood.at(lsn));
    life.begin(search_);
    life.live(whole ? SIZE_MAX : 12);
    std::size_t next = calm_.decided_upto[lsn];
    for (const Event& event : life.store()->stored) {
      if (const std::string decision = decision_in(event); !decision.empty()) {
        ASSERT_LT(next, calm_.decided.size());
        ASSERT_EQ(decision, calm_.decided[next]) << "decision " << next;
        ++next;
      }
    }
    if (whole) {
      ASSERT_TRUE(life.over());
      ASSERT_EQ(next, calm_.decided.size());
    }
  }

  const Value& search_;
  const Uninterrupted& calm_;
  std::uint64_t every_;
  std::uint64_t followed_last_ = UINT64_MAX;
};

class CrashPoints : public testing::TestWithParam<Search> {};

TEST_P(CrashPoints, RecoveredDaemonDecidesWhatTheUninterruptedOneDid) {
  net::set_log_level("error");
#ifdef NDEBUG
  const auto trials = static_cast<int>(from_environment("HPSEARCH_CRASH_TRIALS", 500));
#else
  const auto trials = static_cast<int>(from_environment("HPSEARCH_CRASH_TRIALS", 12));
#endif
  const Value search = GetParam().config(trials);
  Uninterrupted calm;
  ASSERT_NO_FATAL_FAILURE(live_uninterrupted(search, calm));
  CrashEverywhere crashes(search, calm, from_environment("HPSEARCH_CRASH_EVERY", 1));
  {
    Tally tally{"crash point"};
    crashes.run();
    tally.done = crashes.points;
  }
  ASSERT_FALSE(testing::Test::HasFatalFailure());
  std::cout << GetParam().name << ": " << trials << " trials, " << calm.events.size() << " events, crashed at "
            << crashes.points << " of " << calm.calls << " storage calls and " << crashes.while_recovering
            << " times more while recovering; " << crashes.followed << " recovered states went on, "
            << crashes.to_the_end << " of them to the end" << std::endl;
}

const Search searches[] = {
    {"random", [](int trials) { return engine::random_config(trials, 1); }},
    {"grid",
     [](int trials) {
       return engine::test_config(
           Value::Map{{"name", "grid"}, {"max_concurrent_trials", 1}},
           Value::Map{{"hyperparameters",
                       Value::Map{{"x", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", trials + 1},
                                                   {"count", trials}}}}}});
     }},
    {"asha_promotion", [](int trials) { return engine::asha_config(trials, 1, false); }},
    {"asha_stopping", [](int trials) { return engine::asha_config(trials, 1, true); }},
    {"adaptive_asha",
     [](int trials) {
       return engine::test_config(Value::Map{{"name", "adaptive_asha"},
                                             {"max_trials", trials},
                                             {"max_concurrent_trials", 1},
                                             {"divisor", 3}});
     }},
};

std::vector<std::string> decisions_on(DiskImage image) {
  MountedDisk disk(image);
  std::vector<std::string> decided;
  const auto store = daemon::SqliteStore::open(Life::database, {disk, pages_per_checkpoint});
  EXPECT_TRUE(store && (*store)->recover([&](Event&& event) -> engine::Status {
    if (std::string decision = decision_in(event); !decision.empty()) {
      decided.push_back(std::move(decision));
    }
    return engine::Done{};
  }));
  disk.die();
  return decided;
}

/// Power fails before each storage call of a start: the one after it finds everything.
void lose_power_while_starting(const DiskImage& image, const SteadyWorker& worker, engine::Lsn acknowledged,
                               engine::Draw& draw) {
  bool died = true;
  for (std::uint64_t last = 1; died; ++last) {
    SCOPED_TRACE("power fails before storage call " + std::to_string(last) + " of the next start");
    DiskImage left = image;
    {
      SteadyWorker same = worker;
      Life life(left, same);
      died = false;
      static_cast<void>(life.open([&](DiskCall, const std::string&) {
        if (life.disk().calls() != last) {
          return 0;
        }
        died = true;
        life.disk().die();
        return EIO;
      }));
    }
    left.lose_power(draw);
    SteadyWorker same = worker;
    Life life(left, same);
    const engine::Status opened = life.open();
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_GE(life.engine().last_lsn(), acknowledged) << "an acknowledged event is lost";
  }
}

/// A search one of whose storage calls fails: what the store says holds, whatever the kernel did with what it could
/// not write, and also when power fails later.
void fail_one_call(const Value& search, const std::vector<std::string>& decided, std::uint64_t failing, int error) {
  SCOPED_TRACE("storage call " + std::to_string(failing) + " fails with errno " + std::to_string(error));
  DiskImage image("/state");
  SteadyWorker worker(3);
  engine::Lsn acknowledged;
  {
    Life life(image, worker);
    const engine::Status opened = life.open([&](DiskCall call, const std::string&) {
      const bool needs_room =
          call == DiskCall::write || call == DiskCall::create || call == DiskCall::make_directory;
      return life.disk().calls() == failing && (error != ENOSPC || needs_room) ? error : 0;
    });
    if (opened) {
      life.begin(search);
      life.live();
      acknowledged = life.store()->taken;
      if (error == ENOSPC) {
        ASSERT_TRUE(life.over()) << "room was lacking for one call only";
      }
    }
  }
  engine::Draw draw(failing, engine::TrialNumber(0), "power");
  if (error == EIO) {
    ASSERT_NO_FATAL_FAILURE(lose_power_while_starting(image, worker, acknowledged, draw));
  }
  {
    Life life(image, worker);
    const engine::Status opened = life.open();
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_GE(life.engine().last_lsn(), acknowledged);
    life.begin(search);
    life.live(12);
    acknowledged = life.store()->taken;
  }
  for (int way = 0; way < 4; ++way) {
    DiskImage left = image;
    left.lose_power(draw);
    Life life(left, worker);
    const engine::Status opened = life.open();
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_GE(life.engine().last_lsn(), acknowledged) << "an acknowledged event is lost";
  }
  image.lose_power(draw);
  Life life(image, worker);
  const engine::Status opened = life.open();
  ASSERT_TRUE(opened) << opened.error().message;
  life.begin(search);
  life.live();
  ASSERT_TRUE(life.over());
  ASSERT_EQ(decisions_on(image), decided);
}

TEST(FailingDisk, EveryCallMayFailOnce) {
  net::set_log_level("error");
  const Value search = engine::asha_config(6, 1, false);
  Uninterrupted calm;
  ASSERT_NO_FATAL_FAILURE(live_uninterrupted(search, calm));
  Tally tally{"failing call"};
  for (std::uint64_t failing = 1; failing <= calm.calls; ++failing) {
    for (const int error : {EIO, ENOSPC}) {
      ++tally.done;
      ASSERT_NO_FATAL_FAILURE(fail_one_call(search, calm.decided, failing, error));
    }
  }
  std::cout << 2 * calm.calls << " failing calls" << std::endl;
}

/// A disk on which a whole search lies, its log moved into the database and its snapshots beside it.
DiskImage disk_after(const Value& search) {
  DiskImage image("/state");
  SteadyWorker worker(3);
  Life life(image, worker);
  EXPECT_TRUE(life.open());
  life.begin(search);
  life.live();
  life.close();
  return image;
}

TEST(DamagedDisk, FlippedBitIsFoundOrHarmless) {
  net::set_log_level("none");
  const Value search = engine::asha_config(40, 1, false);
  Uninterrupted calm;
  ASSERT_NO_FATAL_FAILURE(live_uninterrupted(search, calm));
  const DiskImage sound = disk_after(search);
  const std::vector<std::string> snapshots = sound.names_in("/state/snapshots");
  ASSERT_EQ(snapshots.size(), daemon::SnapshotFiles::kept);
  engine::Draw draw(5, engine::TrialNumber(0), "flips");
  std::uint64_t refused = 0;
  const int flips = 600;
  Tally tally{"flipped bit"};
  for (int i = 0; i < flips; ++i) {
    ++tally.done;
    DiskImage damaged = sound;
    const std::string path =
        i % 3 == 0 ? Life::database : "/state/snapshots/" + snapshots[draw.below(snapshots.size())];
    const std::uint64_t bit = draw.below(8 * damaged.content(*damaged.find(path)).size());
    damaged.flip(path, bit);
    SteadyWorker worker(3);
    Life life(damaged, worker);
    const engine::Status opened = life.open();
    if (opened) {
      ASSERT_EQ(standing(life.engine()), calm.stood.at(calm.events.size())) << "bit " << bit << " of " << path;
    } else {
      ++refused;
      ASSERT_EQ(path, Life::database) << opened.error().message;
      ASSERT_EQ(opened.error().code, engine::Errc::corrupt) << opened.error().message;
    }
  }
  EXPECT_GT(refused, 0U);
  std::cout << flips << " flipped bits, " << refused << " logs refused" << std::endl;
}

TEST(DamagedDisk, SnapshotsOfALaterLogAreNotBelieved) {
  net::set_log_level("none");
  const Value search = engine::asha_config(40, 1, false);
  Uninterrupted calm;
  ASSERT_NO_FATAL_FAILURE(live_uninterrupted(search, calm));
  // The database as it was earlier, brought back beside snapshots that were not.
  DiskImage image("/state");
  SteadyWorker worker(3);
  {
    Life life(image, worker);
    ASSERT_TRUE(life.open());
    life.begin(search);
    life.live(150);
    life.close();
  }
  DiskImage later = image;
  {
    SteadyWorker same = worker;
    Life life(later, same);
    ASSERT_TRUE(life.open());
    life.begin(search);
    life.live();
    life.close();
  }
  {
    MountedDisk from(later);
    MountedDisk to(image);
    ASSERT_TRUE(to.make_directory("/state/snapshots"));
    for (const std::string& name : from.names_in("/state/snapshots")) {
      const auto bytes = from.read("/state/snapshots/" + name);
      ASSERT_TRUE(bytes);
      const std::array<std::span<const std::byte>, 1> parts{*bytes};
      ASSERT_TRUE(daemon::write_file_durably(to, "/state/snapshots/" + name, parts));
    }
  }
  Life life(image, worker);
  const engine::Status opened = life.open();
  ASSERT_TRUE(opened) << opened.error().message;
  const std::uint64_t lsn = life.engine().last_lsn().number();
  ASSERT_LT(lsn, calm.events.size());
  ASSERT_EQ(standing(life.engine()), calm.stood.at(lsn));
}

TEST(SnapshotsOnADisk, WhatWasKeptOutlivesPowerFailures) {
  DiskImage image("/state");
  MountedDisk disk(image);
  const daemon::SnapshotFiles files("/state/snapshots", disk);
  std::optional<engine::Lsn> kept;
  Tally tally{"power failure"};
  const auto lose_power = [&] {
    for (std::uint64_t way = 0; way < 12; ++way) {
      DiskImage left = image;
      engine::Draw draw(++tally.done, engine::TrialNumber(0), "power");
      left.lose_power(draw);
      MountedDisk after(left);
      const daemon::SnapshotFiles found("/state/snapshots", after);
      const std::vector<engine::Lsn> there = found.list();
      ASSERT_TRUE(!kept || std::find(there.begin(), there.end(), *kept) != there.end())
          << "snapshot " << kept->number() << " is gone";
      for (const engine::Lsn lsn : there) {
        const auto read = found.read(lsn);
        ASSERT_TRUE(read) << read.error().message;
      }
    }
  };
  disk.before = [&](DiskCall, const std::string&) {
    if (!testing::Test::HasFatalFailure()) {
      lose_power();
    }
    return 0;
  };
  for (std::uint64_t number = 1; number <= 5; ++number) {
    const std::string state(3'000 * number, static_cast<char>('a' + number));
    const engine::Lsn lsn(10 * number);
    ASSERT_TRUE(files.keep({1, lsn, 2, Value(state)}));
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    kept = lsn;
    ASSERT_NO_FATAL_FAILURE(lose_power());
  }
  std::cout << tally.done << " power failures" << std::endl;
}

INSTANTIATE_TEST_SUITE_P(Searchers, CrashPoints, testing::ValuesIn(searches),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace hpsearch::simulation
