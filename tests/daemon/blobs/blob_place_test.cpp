#include "daemon/store/files/blob_place.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
using engine::Errc;

struct BlobPlaces : ::testing::Test {
  BlobPlaces() { fs::create_directory(state); }

  Scratch scratch;
  std::string state = scratch.path("state");
  std::string shared = scratch.path("shared");
};

TEST_F(BlobPlaces, AreTheStateDirectoryUnlessAnotherIsGiven) {
  const auto prepared = prepare_blobs("", state, 7);
  ASSERT_TRUE(prepared) << prepared.error().message;
  EXPECT_EQ(*prepared, state);
  EXPECT_TRUE(fs::is_empty(state));
  const auto found = blobs_of(state);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, state);
}

TEST_F(BlobPlaces, AreMadeForTheirOwnerAndFoundAgain) {
  for (int start = 0; start < 2; ++start) {
    const auto prepared = prepare_blobs(shared, state, 7);
    ASSERT_TRUE(prepared) << prepared.error().message;
    EXPECT_EQ(*prepared, shared);
  }
  struct stat info {};
  ASSERT_EQ(::stat(shared.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  const auto found = blobs_of(state);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, shared);
}

TEST_F(BlobPlaces, ServeTheNextDaemonOfTheStore) {
  ASSERT_TRUE(prepare_blobs(shared, state, 7));
  const std::string next = scratch.path("next");
  fs::create_directories(next + "/contexts/left");
  const auto prepared = prepare_blobs(shared, next, 7);
  ASSERT_TRUE(prepared) << prepared.error().message;
  EXPECT_EQ(*prepared, shared);
}

TEST_F(BlobPlaces, RefuseAnotherStore) {
  ASSERT_TRUE(prepare_blobs(shared, state, 7));
  const std::string others = scratch.path("others");
  fs::create_directory(others);
  const auto prepared = prepare_blobs(shared, others, 8);
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().code, Errc::bad_request);
  EXPECT_NE(prepared.error().message.find(shared), std::string::npos) << prepared.error().message;
  EXPECT_TRUE(fs::is_empty(others));
}

TEST_F(BlobPlaces, MissingMountIsRefusedAndNotFilled) {
  ASSERT_TRUE(prepare_blobs(shared, state, 7));
  fs::rename(shared, scratch.path("unmounted"));
  for (const bool is_there : {false, true}) {
    if (is_there) {
      fs::create_directory(shared);
    }
    const auto prepared = prepare_blobs(shared, state, 7);
    ASSERT_FALSE(prepared);
    EXPECT_EQ(prepared.error().code, Errc::unavailable);
    const auto found = blobs_of(state);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, Errc::unavailable);
  }
  EXPECT_TRUE(fs::is_empty(shared));
}

TEST_F(BlobPlaces, MustHaveTheFilesOfTheFormerPlace) {
  fs::create_directory(state + "/contexts");
  std::ofstream(state + "/contexts/file") << "content";
  const auto early = prepare_blobs(shared, state, 7);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, Errc::bad_request);
  fs::rename(state + "/contexts", shared + "/contexts");
  EXPECT_TRUE(prepare_blobs(shared, state, 7));
  const auto back = prepare_blobs("", state, 7);
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, Errc::bad_request);
  EXPECT_NE(back.error().message.find(shared), std::string::npos) << back.error().message;
}

TEST_F(BlobPlaces, RelativePathIsRefused) {
  const auto prepared = prepare_blobs("relative", state, 7);
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().code, Errc::bad_request);
}

}  // namespace
}  // namespace hpsearch::daemon
