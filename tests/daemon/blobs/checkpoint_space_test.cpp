#include "daemon/blobs/checkpoint_space.hpp"

#include <gtest/gtest.h>

#include "daemon/pump.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

TEST(CheckpointSpace, IsKnownAfterTheFirstLook) {
  const Scratch scratch;
  net::Loop loop;
  const CheckpointSpace space(loop, scratch.path().string());
  EXPECT_FALSE(space.free());
  pump(loop, [&] { return space.free().has_value(); });
  EXPECT_GT(*space.free(), 0U);
}

}  // namespace
}  // namespace hpsearch::daemon
