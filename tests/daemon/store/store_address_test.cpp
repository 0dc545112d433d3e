#include "daemon/store/files/store_address.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "daemon/store/sqlite_store.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;

constexpr const char* database = "postgresql://db/hpsearch";

TEST(StoreAddress, IsWrittenReadAndRemoved) {
  const Scratch scratch;
  const std::string directory = scratch.path().string();
  const auto none = read_store_address(directory);
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(*none);
  const std::string cluster = "18364758544493064720";
  ASSERT_TRUE(write_store_address(directory, {database, cluster}));
  const auto read = read_store_address(directory);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_TRUE(*read);
  EXPECT_EQ((*read)->address, database);
  EXPECT_EQ((*read)->cluster, cluster);
  remove_store_address(directory);
  EXPECT_FALSE(std::filesystem::exists(scratch.path("store.json")));
}

TEST(StoreAddress, DamagedFileIsNamed) {
  const Scratch scratch;
  scratch.write("store.json", "{\"store\": 7");
  const auto read = read_store_address(scratch.path().string());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Errc::corrupt);
  EXPECT_NE(read.error().message.find(scratch.path("store.json")), std::string::npos);
}

TEST(StoreAddress, NewDirectoryBelongsToAnyStore) {
  const Scratch scratch;
  EXPECT_TRUE(check_belongs(scratch.path().string(), {database, "7"}));
}

TEST(StoreAddress, DirectoryBelongsToTheStoreThatItNames) {
  const Scratch scratch;
  const std::string directory = scratch.path().string();
  ASSERT_TRUE(write_store_address(directory, {database, "7"}));
  EXPECT_TRUE(check_belongs(directory, {"postgresql://moved/hpsearch", "7"}));
  const auto other = check_belongs(directory, {"postgresql://other/hpsearch", "8"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Errc::wrong_state);
  EXPECT_NE(other.error().message.find(database), std::string::npos);
}

TEST(StoreAddress, DirectoryBelongsToTheStoreInIt) {
  const Scratch scratch;
  const std::string directory = scratch.path().string();
  std::uint64_t cluster = 0;
  {
    const auto store = SqliteStore::open(scratch.path("events.db"));
    ASSERT_TRUE(store) << store.error().message;
    cluster = (*store)->cluster();
  }
  EXPECT_TRUE(check_belongs(directory, {database, std::to_string(cluster)}));
  const auto other = check_belongs(directory, {database, std::to_string(cluster + 1)});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("hpsearch store copy --from " + directory + " --to " + database),
            std::string::npos);
  // Once it names a store, what lies in it doesn't count.
  ASSERT_TRUE(write_store_address(directory, {database, std::to_string(cluster + 1)}));
  EXPECT_TRUE(check_belongs(directory, {database, std::to_string(cluster + 1)}));
}

}  // namespace
}  // namespace hpsearch::daemon
