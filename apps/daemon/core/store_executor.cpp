#include "daemon/core/store_executor.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>

namespace hpsearch::daemon {
namespace {

/// Starts a thread that leaves all signals to the loop's.
template <class Function>
std::thread start_without_signals(Function function) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(function));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

class StoreThread final : public StoreExecutor {
 public:
  explicit StoreThread(std::function<bool()> work)
      : work_(std::move(work)), thread_(start_without_signals([this] { run(); })) {}
  ~StoreThread() override {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  void wake() override {
    {
      const std::scoped_lock lock(mutex_);
      woken_ = true;
    }
    changed_.notify_one();
  }

  [[nodiscard]] bool may_be_spared() const noexcept override { return quick_ >= quick_enough; }

  [[nodiscard]] bool spare() override {
    const std::unique_lock lock(working_, std::try_to_lock);
    if (!lock || !may_be_spared()) {
      return false;
    }
    timed();
    return true;
  }

 private:
  bool work() {
    const std::scoped_lock lock(working_);
    return timed();
  }

  bool timed() {
    const auto start = std::chrono::steady_clock::now();
    const bool done = work_();
    const bool slow = std::chrono::steady_clock::now() - start > quick;
    if (slow || (done && quick_ < quick_enough)) {
      quick_ = slow ? 0 : quick_ + 1;
    }
    return done;
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (!std::exchange(woken_, false)) {
        changed_.wait(lock, [this] { return stopping_ || woken_; });
        continue;
      }
      lock.unlock();
      const bool more = work();
      lock.lock();
      woken_ = woken_ || more;
    }
  }

  static constexpr std::chrono::milliseconds quick{1};
  static constexpr int quick_enough = 64;

  std::function<bool()> work_;
  std::mutex working_;          ///< Held while a piece of work runs.
  std::atomic<int> quick_ = 0;  ///< Pieces in a row that took at most `quick`.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool stopping_ = false;
  std::thread thread_;  // Last: it uses everything above.
};

}  // namespace

std::unique_ptr<StoreExecutor> on_a_thread_of_its_own(std::function<bool()> work) {
  return std::make_unique<StoreThread>(std::move(work));
}

}  // namespace hpsearch::daemon
