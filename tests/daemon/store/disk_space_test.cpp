#include "daemon/store/files/disk_space.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::uint64_t mib = 1024 * 1024;
constexpr std::uint64_t gib = 1024 * mib;

TEST(DiskSpace, SmallDisksAreJudgedByShare) {
  const std::uint64_t total = 1'000 * mib;
  EXPECT_EQ((DiskSpace{100 * mib, total}.room()), Room::ample);
  EXPECT_EQ((DiskSpace{100 * mib - 1, total}.room()), Room::low);
  EXPECT_EQ((DiskSpace{50 * mib, total}.room()), Room::low);
  EXPECT_EQ((DiskSpace{50 * mib - 1, total}.room()), Room::scarce);
  EXPECT_EQ((DiskSpace{20 * mib, total}.room()), Room::scarce);
  EXPECT_EQ((DiskSpace{20 * mib - 1, total}.room()), Room::exhausted);
  EXPECT_EQ((DiskSpace{0, total}.room()), Room::exhausted);
}

TEST(DiskSpace, LargeDisksAreJudgedByAmount) {
  const std::uint64_t total = 100'000 * gib;
  EXPECT_EQ((DiskSpace{4 * gib, total}.room()), Room::ample);
  EXPECT_EQ((DiskSpace{4 * gib - 1, total}.room()), Room::low);
  EXPECT_EQ((DiskSpace{1 * gib - 1, total}.room()), Room::scarce);
  EXPECT_EQ((DiskSpace{256 * mib - 1, total}.room()), Room::exhausted);
}

TEST(DiskSpace, IsRead) {
  const Scratch scratch;
  const auto space = disk_space_at(scratch.path());
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_GT(space->total, 0U);
  EXPECT_LE(space->free, space->total);
  EXPECT_FALSE(disk_space_at(scratch.path("absent")));
}

TEST(DiskReserve, ReservesRoomUntilItIsRemoved) {
  const Scratch scratch;
  const std::string path = scratch.path("reserve");
  {
    DiskReserve reserve(path);
    reserve.set_aside({10 * gib, 64 * mib});
    ASSERT_TRUE(reserve.is_set_aside());
    EXPECT_EQ(std::filesystem::file_size(path), 1 * mib) << "a sixty-fourth of a small disk";
    reserve.give_up();
    EXPECT_FALSE(std::filesystem::exists(path));
    reserve.set_aside({10 * gib, 64 * mib});
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path)) << "a clean end leaves nothing";
}

}  // namespace
}  // namespace hpsearch::daemon
