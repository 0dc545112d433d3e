#include "daemon/store/tools/store_seal.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Lsn;

class StoreSealTest : public testing::Test {
 protected:
  [[nodiscard]] std::string database() const { return scratch_.path("events.db"); }
  [[nodiscard]] std::string path() const { return StoreSeal::path_of(database()); }

  [[nodiscard]] StoreHead sealed() const {
    const auto read = StoreSeal::read(kernel_files(), database());
    EXPECT_TRUE(read && *read);
    return read && *read ? **read : StoreHead{};
  }

  Scratch scratch_;
};

TEST_F(StoreSealTest, IsMissingBeforeItIsBegun) {
  const auto read = StoreSeal::read(kernel_files(), database());
  ASSERT_TRUE(read);
  EXPECT_FALSE(*read);
}

TEST_F(StoreSealTest, HasTheLastRecordedState) {
  auto seal = StoreSeal::begin(kernel_files(), database(), {7, 1, Lsn(0)});
  ASSERT_TRUE(seal) << seal.error().message;
  EXPECT_EQ(sealed(), (StoreHead{7, 1, Lsn(0)}));
  for (std::uint64_t lsn = 1; lsn <= 5'000; ++lsn) {
    seal->note({7, 2, Lsn(lsn)});
    if (lsn % 499 == 1) {
      ASSERT_EQ(sealed(), (StoreHead{7, 2, Lsn(lsn)}));
    }
  }
  EXPECT_EQ(sealed(), (StoreHead{7, 2, Lsn(5'000)}));
  EXPECT_LE(std::filesystem::file_size(path()), 80'000U) << "it grows without end";
}

TEST_F(StoreSealTest, PathMatchesNoPatternOfTheDatabase) {
  EXPECT_EQ(path(), scratch_.path("sealed/events.db.seal"));
  EXPECT_EQ(StoreSeal::path_of("events.db"), "sealed/events.db.seal");
}

TEST_F(StoreSealTest, BeginReplacesTheSealOfAnotherStore) {
  ASSERT_TRUE(StoreSeal::begin(kernel_files(), database(), {7, 9, Lsn(99)}));
  ASSERT_TRUE(StoreSeal::begin(kernel_files(), database(), {8, 1, Lsn(3)}));
  EXPECT_EQ(sealed(), (StoreHead{8, 1, Lsn(3)}));
}

// As a power failure leaves it: records after the first are not synced.
TEST_F(StoreSealTest, OnlyWholeRecordsCount) {
  {
    auto seal = StoreSeal::begin(kernel_files(), database(), {7, 1, Lsn(1)});
    ASSERT_TRUE(seal);
    seal->note({7, 1, Lsn(2)});
    seal->note({7, 1, Lsn(3)});
  }
  const std::string whole = text_of(path());
  ASSERT_EQ(whole.size(), 120U);
  for (std::size_t cut = 40; cut < whole.size(); ++cut) {
    write_text(path(), whole.substr(0, cut));
    ASSERT_EQ(sealed().last, Lsn(cut / 40)) << cut;
  }
  std::string hole = whole;
  hole.replace(40, 40, std::string(40, '\0'));
  write_text(path(), hole);
  EXPECT_EQ(sealed().last, Lsn(3));
  for (std::size_t byte = 0; byte < whole.size(); ++byte) {
    std::string flipped = whole;
    flipped[byte] = static_cast<char>(flipped[byte] ^ 1);
    write_text(path(), flipped);
    ASSERT_EQ(sealed().last, Lsn(byte < 80 ? 3 : 2)) << byte;
  }
}

TEST_F(StoreSealTest, FileWithoutAWholeRecordIsDamaged) {
  for (const std::string& content : {std::string(), std::string(39, 'x'), std::string(80, '\0')}) {
    write_text(path(), content);
    const auto read = StoreSeal::read(kernel_files(), database());
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::corrupt);
    EXPECT_NE(read.error().message.find(path()), std::string::npos) << read.error().message;
  }
}

}  // namespace
}  // namespace hpsearch::daemon
