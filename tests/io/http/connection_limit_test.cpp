#include "http/connection_limit.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace hpsearch::net {
namespace {

using Standing = ConnectionLimit::Standing;

class Connection : public ConnectionLimit::Member {
 public:
  void give_way() override { gave_way = true; }
  bool gave_way = false;
};

/// A crowd of at most ten, four of an address and three of a name.
class Crowd : public testing::Test {
 protected:
  static constexpr std::size_t of_an_address = 4;
  static constexpr std::size_t of_a_name = 3;

  /// Null: there is no room.
  Connection* join(const std::string& address, Standing standing, const std::string& name = "") {
    auto connection = std::make_unique<Connection>();
    if (!crowd_.join(*connection, address, of_an_address)) {
      return nullptr;
    }
    if (!name.empty()) {
      crowd_.count_for(*connection, name, of_a_name);
    }
    crowd_.stand(*connection, standing);
    connections_.push_back(std::move(connection));
    return connections_.back().get();
  }

  ConnectionLimit crowd_{10};
  std::vector<std::unique_ptr<Connection>> connections_;
};

TEST_F(Crowd, StrangersOfAnAddressGiveWayBeforeThoseThatWaitAndThoseBeforeStreams) {
  const Connection* streaming = join("a", Standing::streaming);
  const Connection* waiting = join("a", Standing::waiting);
  const Connection* first = join("a", Standing::stranger);
  const Connection* second = join("a", Standing::stranger);
  for (const Connection* next : {first, second, waiting, streaming}) {
    EXPECT_FALSE(next->gave_way);
    ASSERT_NE(join("a", Standing::answering), nullptr);
    EXPECT_TRUE(next->gave_way);
  }
  EXPECT_EQ(join("a", Standing::stranger), nullptr) << "all others are being answered";
  EXPECT_NE(join("b", Standing::stranger), nullptr);
  EXPECT_EQ(crowd_.size(), 5U);
}

TEST_F(Crowd, ThoseOfANameTakeNoRoomOfTheirAddress) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_NE(join("proxy", Standing::streaming, "ann"), nullptr);
    ASSERT_NE(join("proxy", Standing::streaming, "bob"), nullptr);
  }
  const Connection* other = join("proxy", Standing::waiting);
  ASSERT_NE(other, nullptr);
  EXPECT_FALSE(other->gave_way);
  for (const auto& each : connections_) {
    EXPECT_FALSE(each->gave_way);
  }
}

TEST_F(Crowd, TheOldestWaitingConnectionOfANameIsClosed) {
  const Connection* first = join("a", Standing::waiting, "ann");
  const Connection* second = join("b", Standing::waiting, "ann");
  join("c", Standing::streaming, "ann");
  join("d", Standing::answering, "ann");
  EXPECT_TRUE(first->gave_way);
  EXPECT_FALSE(second->gave_way);
}

TEST_F(Crowd, AFullOneHasRoomWhileAnyIsSilentOrWaits) {
  std::vector<const Connection*> silent;
  for (int i = 0; i < 8; ++i) {
    silent.push_back(join("stranger " + std::to_string(i), Standing::stranger));
  }
  const Connection* waiting = join("ann", Standing::waiting, "ann");
  const Connection* streaming = join("ann", Standing::streaming, "ann");
  for (const Connection* next : silent) {
    ASSERT_NE(join("bob", Standing::answering, "bob" + std::to_string(connections_.size())), nullptr);
    EXPECT_TRUE(next->gave_way);
    EXPECT_FALSE(waiting->gave_way);
  }
  ASSERT_NE(join("cid", Standing::answering), nullptr);
  EXPECT_TRUE(waiting->gave_way);
  EXPECT_EQ(join("dan", Standing::answering), nullptr);
  EXPECT_FALSE(streaming->gave_way) << "of others";
  EXPECT_EQ(crowd_.size(), 10U);
}

TEST_F(Crowd, AClosedConnectionIsNotListed) {
  Connection* one = join("a", Standing::waiting);
  crowd_.leave(*one);
  crowd_.leave(*one);
  crowd_.stand(*one, Standing::answering);
  crowd_.count_for(*one, "ann", 1);
  EXPECT_EQ(crowd_.size(), 0U);
}

}  // namespace
}  // namespace hpsearch::net
