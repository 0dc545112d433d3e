#include "daemon/core/committer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "daemon/pump.hpp"
#include "daemon/store/gated_store.hpp"

namespace hpsearch::daemon {
namespace {

using namespace std::chrono_literals;

class CommitterTest : public testing::Test {
 protected:
  CommitterTest() {
    EXPECT_TRUE(store_.recover([](const engine::Event&) -> engine::Status { return engine::Done{}; }));
    committer_.emplace(
        loop_, store_, [this](const engine::Error& error) { failure_ = error; },
        [this](const engine::Error& error) { full_.push_back(error.message); });
  }

  std::vector<engine::Event> events(int count) {
    std::vector<engine::Event> group;
    for (int i = 0; i < count; ++i) {
      group.push_back(
          {engine::Lsn(++lsn_), engine::Instant{}, engine::ExperimentPaused{engine::ExperimentId(1)}});
    }
    return group;
  }
  void commit(int count, int name) {
    committer_->commit(events(count), [this, name] { done_.push_back(name); });
  }
  void pump_until_idle() {
    pump(loop_, [this] { return committer_->idle(); });
  }

  net::Loop loop_;
  GatedStore store_{std::make_shared<MemoryDisk>()};
  std::optional<engine::Error> failure_;
  std::vector<std::string> full_;
  std::vector<int> done_;
  std::uint64_t lsn_ = 0;
  std::optional<Committer> committer_;
};

TEST_F(CommitterTest, AnswersInOrder) {
  std::vector<int> expected(200);
  std::iota(expected.begin(), expected.end(), 0);
  for (const int i : expected) {
    commit(i % 3, i);  // Every third has no events, but still waits for its turn.
  }
  pump_until_idle();
  EXPECT_EQ(done_, expected);
  EXPECT_EQ(store_.last_lsn(), engine::Lsn(lsn_));
  EXPECT_EQ(committer_->counters().durable, engine::Lsn(lsn_));
  EXPECT_EQ(committer_->counters().events, lsn_);
}

TEST_F(CommitterTest, AnswersOnlyDurableGroups) {
  store_.hold();
  commit(1, 1);
  commit(0, 2);
  pump_for(loop_, 50ms);
  EXPECT_TRUE(done_.empty());
  EXPECT_FALSE(committer_->idle());
  store_.let_go();
  pump_until_idle();
  EXPECT_EQ(done_, (std::vector<int>{1, 2}));
}

TEST_F(CommitterTest, EntriesDuringACommitFormTheNextGroup) {
  store_.hold();
  commit(1, 1);
  store_.wait_until_one_waits();
  for (int i = 2; i <= 100; ++i) {
    commit(1, i);
  }
  store_.let_go();
  pump_until_idle();
  EXPECT_EQ(store_.group_sizes(), (std::vector<std::size_t>{1, 99}));
  EXPECT_EQ(committer_->counters().commits, 2U);
}

TEST_F(CommitterTest, EmptyEntryIsAnsweredWithoutACommit) {
  commit(0, 1);
  EXPECT_TRUE(done_.empty());  // Never from within the call.
  pump_until_idle();
  EXPECT_EQ(done_, std::vector<int>{1});
  EXPECT_EQ(committer_->counters().commits, 0U);
}

TEST_F(CommitterTest, FollowUpsKeepTheOrder) {
  committer_->commit(events(1), [this] {
    done_.push_back(1);
    commit(0, 3);
  });
  commit(1, 2);
  pump_until_idle();
  EXPECT_EQ(done_, (std::vector<int>{1, 2, 3}));
}

TEST_F(CommitterTest, FailureIsReportedOnceAndNothingIsAnsweredAfterIt) {
  commit(1, 1);
  pump_until_idle();
  store_.fail_from_now_on();
  commit(1, 2);
  commit(0, 3);
  pump(loop_, [this] { return failure_.has_value(); });
  EXPECT_EQ(failure_->message, "the disk is broken");
  failure_.reset();
  commit(1, 4);
  pump_for(loop_, 50ms);
  EXPECT_EQ(done_, std::vector<int>{1});
  EXPECT_FALSE(failure_);
  EXPECT_EQ(store_.last_lsn(), engine::Lsn(1));
}

TEST_F(CommitterTest, FullDiskIsWaitedOut) {
  commit(1, 1);
  pump_until_idle();
  store_.fill();
  commit(2, 2);
  pump(loop_, [this] { return full_.size() >= 2; });  // Retried.
  EXPECT_TRUE(committer_->stalled());
  commit(1, 3);
  commit(0, 4);
  pump_for(loop_, 50ms);
  EXPECT_EQ(done_, std::vector<int>{1}) << "answers must be durable";
  EXPECT_EQ(full_.front(), "the disk is full");
  store_.make_room();
  pump_until_idle();
  EXPECT_EQ(done_, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_FALSE(committer_->stalled());
  EXPECT_FALSE(failure_);
  EXPECT_EQ(store_.group_sizes(), (std::vector<std::size_t>{1, 2, 1})) << "the very group that found no room";
}

TEST_F(CommitterTest, CanBeDestroyedWhileItWaitsForRoom) {
  store_.fill();
  commit(1, 1);
  pump(loop_, [this] { return committer_->stalled(); });
  committer_.reset();
  pump_for(loop_, 50ms);
  EXPECT_TRUE(done_.empty());
}

TEST_F(CommitterTest, DiskFailureDuringAWaitForRoomIsReported) {
  store_.fill();
  commit(1, 1);
  pump(loop_, [this] { return committer_->stalled(); });
  store_.fail_from_now_on();
  pump(loop_, [this] { return failure_.has_value(); });
  EXPECT_TRUE(done_.empty());
}

TEST_F(CommitterTest, ReadsSeeEarlierCommits) {
  commit(3, 1);
  std::size_t seen = 0;
  committer_->read([&](EventStore& store) -> Committer::Then {
    const auto count = store.read(engine::Lsn(0), 100)->size();
    return [&seen, count] { seen = count; };
  });
  pump_until_idle();
  EXPECT_EQ(seen, 3U);
}

TEST_F(CommitterTest, CanBeDestroyedDuringACommit) {
  store_.hold();
  commit(1, 1);
  store_.wait_until_one_waits();
  commit(1, 2);
  std::thread release([this] {
    std::this_thread::sleep_for(20ms);
    store_.let_go();
  });
  committer_.reset();
  release.join();
  EXPECT_TRUE(done_.empty());
}

/// Works when the loop runs it, and may be spared when the test says so.
class ScriptedExecutor final : public StoreExecutor {
 public:
  struct Script {
    bool may_be_spared = true;
    bool spares = true;  ///< Whether spare() does the work.
    int woken = 0;
    int spared = 0;
  };
  ScriptedExecutor(net::Timeline& loop, Script& script, std::function<bool()> work)
      : loop_(loop), script_(script), work_(std::move(work)) {}

  void wake() override {
    ++script_.woken;
    loop_.post([this] {
      while (work_()) {
      }
    });
  }
  [[nodiscard]] bool may_be_spared() const noexcept override { return script_.may_be_spared; }
  [[nodiscard]] bool spare() override {
    if (!script_.spares) {
      return false;
    }
    ++script_.spared;
    work_();
    return true;
  }

 private:
  net::Timeline& loop_;
  Script& script_;
  std::function<bool()> work_;
};

class SparedExecutor : public CommitterTest {
 protected:
  SparedExecutor() {
    committer_.emplace(
        loop_, store_, [this](const engine::Error& error) { failure_ = error; }, [](const engine::Error&) {},
        [this](std::function<bool()> work) -> std::unique_ptr<StoreExecutor> {
          return std::make_unique<ScriptedExecutor>(loop_, script_, std::move(work));
        });
  }

  ScriptedExecutor::Script script_;
};

TEST_F(SparedExecutor, SingleEntryIsStoredWithoutIt) {
  for (int i = 0; i < 3; ++i) {
    commit(1, i);
    EXPECT_EQ(done_.size(), static_cast<std::size_t>(i)) << "never from within the call";
    pump_until_idle();
  }
  EXPECT_EQ(done_, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(script_.woken, 0);
  EXPECT_EQ(script_.spared, 3);
  EXPECT_EQ(store_.last_lsn(), engine::Lsn(3));
}

TEST_F(SparedExecutor, IsWokenForSeveralEntries) {
  commit(1, 1);
  commit(1, 2);
  pump_until_idle();
  EXPECT_EQ(script_.woken, 1);
  EXPECT_EQ(script_.spared, 0);
  EXPECT_EQ(done_, (std::vector<int>{1, 2}));
  EXPECT_EQ(store_.group_sizes(), std::vector<std::size_t>{2});
}

TEST_F(SparedExecutor, IsWokenForAReadAfterACommit) {
  commit(1, 1);
  committer_->read([this](EventStore&) -> Committer::Then { return [this] { done_.push_back(2); }; });
  pump_until_idle();
  EXPECT_EQ(script_.spared, 0) << "a long read would be done on the loop";
  EXPECT_EQ(script_.woken, 1);
  EXPECT_EQ(done_, (std::vector<int>{1, 2}));
}

TEST_F(SparedExecutor, IsWokenIfItRefusesToBeSpared) {
  script_.spares = false;
  commit(1, 1);
  pump_until_idle();
  EXPECT_EQ(script_.woken, 1);
  EXPECT_EQ(done_, std::vector<int>{1});
}

TEST_F(SparedExecutor, IsWokenToRead) {
  committer_->read([this](EventStore&) -> Committer::Then { return [this] { done_.push_back(1); }; });
  pump_until_idle();
  EXPECT_EQ(script_.woken, 1);
  EXPECT_EQ(script_.spared, 0);
}

TEST_F(SparedExecutor, IsWokenIfItMustNotBeSpared) {
  script_.may_be_spared = false;
  commit(1, 1);
  pump_until_idle();
  EXPECT_EQ(script_.woken, 1);
  EXPECT_EQ(script_.spared, 0);
}

}  // namespace
}  // namespace hpsearch::daemon
