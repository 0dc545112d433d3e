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
#include "simulation/cluster/nodes/search_on_disk.hpp"

namespace hpsearch::simulation {
namespace {

/// A disk on which a whole search lies, its log moved into the database.
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
  engine::Draw draw(5, engine::TrialNumber(0), "flips");
  std::uint64_t refused = 0;
  const int flips = 300;
  Tally tally{"flipped bit"};
  for (int i = 0; i < flips; ++i) {
    ++tally.done;
    DiskImage damaged = sound;
    const std::string path = Life::database;
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
      ASSERT_EQ(opened.error().code, engine::Errc::corrupt) << opened.error().message;
    }
  }
  EXPECT_GT(refused, 0U);
  std::cout << flips << " flipped bits, " << refused << " logs refused" << std::endl;
}

}  // namespace
}  // namespace hpsearch::simulation
