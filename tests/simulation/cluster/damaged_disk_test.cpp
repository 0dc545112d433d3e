// Bits flip in what lies on a disk, and what lies there is of different ages.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "simulation/cluster/search_on_disk.hpp"

namespace hpsearch::simulation {
namespace {

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
      ASSERT_EQ(standing(life.engine()), calm.stood.at(calm.events.size()))
          << "bit " << bit << " of " << path;
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

}  // namespace
}  // namespace hpsearch::simulation
