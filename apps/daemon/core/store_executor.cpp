#include "daemon/core/store_executor.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

#include "daemon/store/thread_without_signals.hpp"

namespace hpsearch::daemon {
namespace {

class StoreThread final : public StoreExecutor {
 public:
  enum class Spared : std::uint8_t { while_quick, never };

  StoreThread(std::function<bool()> work, Spared spared)
      : work_(std::move(work)), spared_(spared), thread_(thread_without_signals([this] { run(); })) {}
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

  [[nodiscard]] bool may_be_spared() const noexcept override {
    return spared_ == Spared::while_quick && quick_ >= quick_enough;
  }

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
  const Spared spared_;
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
  return std::make_unique<StoreThread>(std::move(work), StoreThread::Spared::while_quick);
}

std::unique_ptr<StoreExecutor> on_another_thread(std::function<bool()> work) {
  return std::make_unique<StoreThread>(std::move(work), StoreThread::Spared::never);
}

}  // namespace hpsearch::daemon
