#include "daemon/store/files/new_store_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;

/// Files that a killed daemon leaves beside its store. SQLite takes them for parts of any file that gets that
/// name.
class NewStore : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] std::string path() const { return scratch_.path("events.db"); }
  [[nodiscard]] std::string leftover() const { return path() + GetParam(); }

  void expect_refused(const engine::Error& error) const {
    EXPECT_EQ(error.code, engine::Errc::wrong_state);
    EXPECT_NE(error.message.find(leftover() + " is left of a store"), std::string::npos) << error.message;
    EXPECT_EQ(text_of(leftover()), "old pages");
    EXPECT_FALSE(fs::exists(path()));
  }

  Scratch scratch_;
};

TEST_P(NewStore, IsNotBegunBesideFilesOfAnotherStore) {
  scratch_.write("events.db" + std::string(GetParam()), "old pages");
  const auto begun = NewStoreFile::begin(path());
  ASSERT_FALSE(begun);
  expect_refused(begun.error());
}

TEST_P(NewStore, IsNotRenamedBesideFilesOfAnotherStore) {
  auto begun = NewStoreFile::begin(path());
  ASSERT_TRUE(begun) << begun.error().message;
  ASSERT_TRUE((*begun)->file().run("CREATE TABLE t (a)", "cannot write"));
  scratch_.write("events.db" + std::string(GetParam()), "old pages");
  const auto finished = (*begun)->finish();
  ASSERT_FALSE(finished);
  expect_refused(finished.error());
}

TEST(NewStoreOf, OnlyItsOwnerCanReadIt) {
  const Scratch scratch;
  const mode_t before = ::umask(0);
  auto begun = NewStoreFile::begin(scratch.path("events.db"));
  ASSERT_TRUE(begun) << begun.error().message;
  EXPECT_TRUE((*begun)->file().run("CREATE TABLE t (a)", "cannot write"));
  EXPECT_TRUE((*begun)->finish());
  ::umask(before);
  EXPECT_EQ(fs::status(scratch.path("events.db")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

INSTANTIATE_TEST_SUITE_P(Leftovers, NewStore, testing::Values("-wal", "-journal", "-shm"));

}  // namespace
}  // namespace hpsearch::daemon
