// Each storage call of a search fails once: what the store has said holds, also when power fails later.
// HPSEARCH_CRASH_EVERY=n lets every n-th call fail.

#include <gtest/gtest.h>

#include <cerrno>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "simulation/cluster/nodes/search_on_disk.hpp"
#include "simulation/from_environment.hpp"

namespace hpsearch::simulation {
namespace {

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

/// A search one of whose storage calls fails: what the store says holds, whatever the kernel did with what it
/// could not write, and also when power fails later.
void fail_one_call(const Value& search, const std::vector<std::string>& decided, std::uint64_t failing,
                   int error) {
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
  const std::uint64_t step = from_environment("HPSEARCH_CRASH_EVERY", 1);
  for (std::uint64_t failing = 1; failing <= calm.calls; failing += step) {
    for (const int error : {EIO, ENOSPC}) {
      ++tally.done;
      ASSERT_NO_FATAL_FAILURE(fail_one_call(search, calm.decided, failing, error));
    }
  }
  std::cout << tally.done << " failing calls" << std::endl;
}

}  // namespace
}  // namespace hpsearch::simulation
