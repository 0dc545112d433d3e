#include "daemon/access/fair_queue.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "daemon/manual_timeline.hpp"

namespace hpsearch::daemon {
namespace {

class FairQueueTest : public testing::Test {
 protected:
  /// Work that is done when the test calls done().
  void add(const std::string& client) {
    queue_.add(client, [this, client] { begun_ += client; });
    timeline_.run_posted();
  }
  void add_part(const std::string& client) {
    queue_.add_part(client, [this, client] { begun_ += client + "'"; });
    timeline_.run_posted();
  }
  void done(const std::string& client) {
    queue_.done(client);
    timeline_.run_posted();
  }

  ManualTimeline timeline_;
  FairQueue queue_{timeline_, FairQueue::Bounds{.running = 3,
                                                .running_of_one = 2,
                                                .waiting = 6,
                                                .waiting_of_one = 4,
                                                .unread_bytes = 100,
                                                .unread_bytes_of_one = 50}};
  std::string begun_;
};

TEST_F(FairQueueTest, OneClientLeavesRoomForAnother) {
  add("a");
  add("a");
  add("a");
  EXPECT_EQ(begun_, "aa");
  add("b");
  EXPECT_EQ(begun_, "aab");
}

TEST_F(FairQueueTest, ClientsTakeTurns) {
  for (const char* client : {"a", "a", "b", "a", "a", "a", "b", "c"}) {
    add(client);
  }
  EXPECT_EQ(begun_, "aab");
  for (const char* client : {"b", "a", "a", "b", "c"}) {
    done(client);
  }
  EXPECT_EQ(begun_, "aabbaca") << "b and c wait for one of a at most";
}

TEST_F(FairQueueTest, TooManyAreRefused) {
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE(queue_.has_room("a"));
    add("a");
  }
  EXPECT_FALSE(queue_.has_room("a")) << "two run and four wait";
  add("b");
  add("b");
  add("b");
  EXPECT_FALSE(queue_.has_room("c")) << "six wait";
  done("a");
  EXPECT_TRUE(queue_.has_room("c"));
}

TEST_F(FairQueueTest, ClientWithManyUnreadBytesWaits) {
  add("a");
  auto unread = queue_.hold("a", 50);
  done("a");
  add("a");
  EXPECT_EQ(begun_, "a");
  add("b");
  EXPECT_EQ(begun_, "ab") << "others don't";
  unread.reset();
  timeline_.run_posted();
  EXPECT_EQ(begun_, "aba");
}

TEST_F(FairQueueTest, UnreadBytesOfAllClientsAreBounded) {
  auto first = queue_.hold("a", 40);
  auto second = queue_.hold("b", 60);
  add("c");
  EXPECT_EQ(begun_, "");
  second.reset();
  timeline_.run_posted();
  EXPECT_EQ(begun_, "c");
}

TEST_F(FairQueueTest, PartOfAnAnswerWaitsForItsTurnButNotForReaders) {
  auto unread = queue_.hold("a", 100);
  add("a");
  add_part("a");
  EXPECT_EQ(begun_, "a'") << "else the answer would never end";
  add_part("a");
  add_part("a");
  EXPECT_EQ(begun_, "a'a'");
  done("a");
  EXPECT_EQ(begun_, "a'a'a'");
}

TEST_F(FairQueueTest, PostedWorkMayOutliveIt) {
  auto timeline = std::make_unique<ManualTimeline>();
  auto queue = std::make_unique<FairQueue>(*timeline, FairQueue::Bounds{});
  bool begun = false;
  queue->add("a", [&begun] { begun = true; });
  auto unread = queue->hold("a", 1);
  queue.reset();
  timeline->run_posted();
  unread.reset();
  EXPECT_FALSE(begun);
}

}  // namespace
}  // namespace hpsearch::daemon
