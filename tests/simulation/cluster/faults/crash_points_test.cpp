// The daemon on its real store is killed, or its machine loses power, before each storage call of a search.
// It recovers and goes on: what it acknowledged is there, it stands where the uninterrupted daemon stood, and
// decides what that one decided. Where the process alone was killed, files are also taken away or replaced by
// older ones before the next start: it is refused rather than begin with less than was acknowledged.
// HPSEARCH_CRASH_TRIALS=n searches with n trials, HPSEARCH_CRASH_EVERY=n crashes at every n-th call.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "simulation/cluster/nodes/search_on_disk.hpp"
#include "simulation/from_environment.hpp"
#include "simulation/search_spaces.hpp"

namespace hpsearch::simulation {
namespace {

struct Search {
  const char* name;
  std::function<Value(int trials)> config;
};
void PrintTo(const Search& search, std::ostream* out) {
  *out << search.name;
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
  std::uint64_t refused = 0;

  void run() {
    DiskImage image("/state");
    SteadyWorker worker(3);
    Life life(image, worker);
    ASSERT_TRUE(life.open([&](DiskCall, const std::string& path) {
      if (life.disk().calls() % every_ == 0 && !testing::Test::HasFatalFailure()) {
        WatchedStore* store = life.store();
        const Known known{life.disk().calls(), store == nullptr ? 0 : store->daemon_epoch(),
                          store == nullptr ? 0 : store->taken.number(),
                          store == nullptr ? 0 : store->given.number()};
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
    } else {
      take_files_away(left, known);
      if (testing::Test::HasFatalFailure()) {
        return;
      }
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

  /// Somebody removes files of the killed daemon, or puts older ones in their place: the next start is
  /// refused and finds everything when the files are put back from their second names; or it finds everything
  /// as it is.
  void take_files_away(const DiskImage& left, const Known& known) {
    const std::string database = Life::database;
    const std::string log = database + "-wal";
    for (const std::vector<std::string>& gone :
         {std::vector{log}, std::vector{database}, std::vector{database, log}}) {
      DiskImage without = left;
      for (const std::string& path : gone) {
        if (without.find(path)) {
          without.remove(path);
        }
      }
      SCOPED_TRACE("without " + gone.front() + (gone.size() > 1 ? " and its log" : ""));
      look_or_put_back(without, known);
    }
    if (older_.find(database) && older_.find(log)) {
      DiskImage swapped = left;
      for (const std::string& path : {database, log}) {
        std::vector<std::byte> bytes(older_.content(*older_.find(path)).size());
        older_.content(*older_.find(path)).read(0, bytes);
        if (swapped.find(path)) {
          swapped.remove(path);
        }
        swapped.write(swapped.create(path), 0, bytes);
      }
      SCOPED_TRACE("with older files in the place of its own");
      look_or_put_back(swapped, known);
    }
    if (taken_away_ % 5 == 1) {
      older_ = left;
    }
  }

  void look_or_put_back(DiskImage& image, const Known& known) {
    ++taken_away_;
    {
      DiskImage tried = image;
      MountedDisk disk(tried);
      const auto store = daemon::SqliteStore::open(Life::database, {disk, pages_per_checkpoint});
      disk.die();
      if (store) {
        std::uint64_t found = 0;
        look(image, known, found);
        return;
      }
      ++refused;
      // A store that was being made has no seal yet, and without its log may be half a database.
      ASSERT_TRUE(store.error().code == engine::Errc::not_found || known.epoch == 0) << store.error().message;
    }
    const std::string second = "/state/sealed/events.db";
    if (!image.find(second) || !image.find(second + "-wal")) {
      ASSERT_EQ(known.taken, 0U) << "what was acknowledged is lost";
      return;
    }
    image.link(second, Life::database);
    image.link(second + "-wal", std::string(Life::database) + "-wal");
    std::uint64_t found = 0;
    look(image, known, found);
  }

  /// The store as a start finds it: nothing that was told to be durable is missing, and nothing else is
  /// there.
  void look(DiskImage left, const Known& known, std::uint64_t& found) {
    MountedDisk disk(left);
    const auto store = daemon::SqliteStore::open(Life::database, {disk, pages_per_checkpoint});
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_GT((*store)->daemon_epoch(), known.epoch);
    found = 0;
    const engine::Status recovered = (*store)->recover([&](Event&& event) -> engine::Status {
      found = event.lsn.number();
      const bool same = found <= calm_.events.size() && hash_of(event) == calm_.events[found - 1];
      return same ? engine::Status(engine::Done{})
                  : engine::Error{engine::Errc::corrupt,
                                  "event " + std::to_string(found) + " was never stored"};
    });
    ASSERT_TRUE(recovered) << recovered.error().message;
    ASSERT_TRUE(found == known.taken || found == known.given)
        << "the log ends with event " << found << "; event " << known.taken
        << " was acknowledged, and up to event " << known.given << " was given";
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
  std::uint64_t taken_away_ = 0;
  DiskImage older_{"/state"};
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
  std::cout << GetParam().name << ": " << trials << " trials, " << calm.events.size()
            << " events, crashed at " << crashes.points << " of " << calm.calls << " storage calls and "
            << crashes.while_recovering << " times more while recovering; " << crashes.followed
            << " recovered states went on, " << crashes.to_the_end << " of them to the end; "
            << crashes.refused << " starts refused for files that were taken away" << std::endl;
  EXPECT_GT(crashes.refused, 0U);
}
Value sampling(const char* sampler, int trials) {
  Value config = engine::asha_config(trials, 1, false);
  take_conditional_space(*config.as_map());
  (*(*config.as_map())["searcher"].as_map())["sampler"] = sampler;
  return config;
}

Value adaptive(int trials, const char* mode, bool stop_once) {
  return engine::test_config(Value::Map{{"name", "adaptive_asha"},
                                        {"max_trials", trials},
                                        {"max_concurrent_trials", 1},
                                        {"divisor", 3},
                                        {"mode", mode},
                                        {"stop_once", stop_once}});
}

const Search searches[] = {
    {"single",
     [](int /*trials*/) {
       return engine::test_config(Value::Map{{"name", "single"}},
                                  Value::Map{{"hyperparameters", Value::Map{{"x", 0.5}}}});
     }},
    {"random", [](int trials) { return engine::random_config(trials, 1); }},
    {"grid",
     [](int trials) {
       return engine::test_config(
           Value::Map{{"name", "grid"}, {"max_concurrent_trials", 1}},
           Value::Map{{"hyperparameters", Value::Map{{"x", Value::Map{{"type", "int"},
                                                                      {"minval", 1},
                                                                      {"maxval", trials + 1},
                                                                      {"count", trials}}}}}});
     }},
    {"asha_promotion", [](int trials) { return engine::asha_config(trials, 1, false); }},
    {"asha_stopping", [](int trials) { return engine::asha_config(trials, 1, true); }},
    {"anneal", [](int trials) { return sampling("anneal", trials); }},
    {"repeats",
     [](int trials) {
       Value config = engine::asha_config(trials, 1, false);
       Value::Map& searcher = *(*config.as_map())["searcher"].as_map();
       searcher["repeats"] = 3;
       searcher["finalists"] = 2;
       return config;
     }},
    {"model", [](int trials) { return sampling("model", trials); }},
    {"tpe", [](int trials) { return sampling("tpe", trials); }},
    {"adaptive_asha", [](int trials) { return adaptive(trials, "standard", false); }},
    {"adaptive_asha_aggressive", [](int trials) { return adaptive(trials, "aggressive", false); }},
    {"adaptive_asha_conservative", [](int trials) { return adaptive(trials, "conservative", false); }},
    {"adaptive_asha_stopping", [](int trials) { return adaptive(trials, "standard", true); }},
};
INSTANTIATE_TEST_SUITE_P(Searchers, CrashPoints, testing::ValuesIn(searches),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace hpsearch::simulation
