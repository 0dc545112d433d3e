#include "daemon/core/store_executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>

namespace hpsearch::daemon {
namespace {

using namespace std::chrono_literals;

class StoreThreadTest : public testing::Test {
 protected:
  /// One piece of work, which lasts as long as the test wants.
  bool work() {
    if (to_do_ == 0) {
      ++idle_calls_;
      return false;
    }
    --to_do_;
    done_by_ = std::this_thread::get_id();
    if (slow_) {
      std::this_thread::sleep_for(5ms);
    }
    if (held_) {
      begun_.release();
      let_go_.acquire();
    }
    ++done_;
    return true;
  }
  void wait_for(const std::function<bool()>& reached) {
    const auto limit = std::chrono::steady_clock::now() + 30s;
    while (!reached()) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit) << "what was waited for did not happen";
      std::this_thread::yield();
    }
  }
  /// The thread checks for more work after the piece, finds nothing, and rests.
  void have_done(StoreExecutor& thread) {
    const int before = done_;
    const int idle_calls = idle_calls_;
    ++to_do_;
    thread.wake();
    wait_for([&] { return done_ > before && idle_calls_ > idle_calls; });
  }
  /// On a busy machine some pieces take long, and the count begins anew. If a check is spared, the last piece
  /// was finished.
  void be_quick_for_long(StoreExecutor& thread) {
    wait_for([&] {
      have_done(thread);
      return thread.spare();
    });
  }

  std::atomic<int> to_do_ = 0;
  std::atomic<int> done_ = 0;
  std::atomic<int> idle_calls_ = 0;  // How often work() was called while there was none.
  std::atomic<bool> slow_ = false;
  std::atomic<bool> held_ = false;
  std::atomic<std::thread::id> done_by_;
  std::binary_semaphore begun_{0};
  std::binary_semaphore let_go_{0};
};

TEST_F(StoreThreadTest, IsNotSparedBeforeItWasQuickForAWhile) {
  const auto thread = on_a_thread_of_its_own([this] { return work(); });
  for (int i = 0; i < 63; ++i) {
    have_done(*thread);
    ASSERT_FALSE(thread->may_be_spared());
    EXPECT_FALSE(thread->spare());
  }
  EXPECT_NE(done_by_.load(), std::this_thread::get_id());
}

TEST_F(StoreThreadTest, IsSparedUntilAPieceTakesLong) {
  const auto thread = on_a_thread_of_its_own([this] { return work(); });
  be_quick_for_long(*thread);
  slow_ = true;
  to_do_ = 1;
  EXPECT_TRUE(thread->spare());
  EXPECT_EQ(done_by_.load(), std::this_thread::get_id());
  EXPECT_FALSE(thread->may_be_spared());
  slow_ = false;
  have_done(*thread);
  EXPECT_FALSE(thread->may_be_spared()) << "once is not a while";
}

TEST_F(StoreThreadTest, IsNotSparedWhileItWorks) {
  const auto thread = on_a_thread_of_its_own([this] { return work(); });
  be_quick_for_long(*thread);
  held_ = true;
  to_do_ = 1;
  thread->wake();
  begun_.acquire();
  EXPECT_FALSE(thread->spare());
  held_ = false;
  let_go_.release();
}

TEST_F(StoreThreadTest, ThreadForANetworkIsNeverSpared) {
  const auto thread = on_another_thread([this] { return work(); });
  for (int i = 0; i < 200; ++i) {
    have_done(*thread);
    ASSERT_FALSE(thread->may_be_spared());
  }
  to_do_ = 1;
  EXPECT_FALSE(thread->spare());
  EXPECT_EQ(to_do_, 1);
}

}  // namespace
}  // namespace hpsearch::daemon
