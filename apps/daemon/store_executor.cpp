#include "daemon/store_executor.hpp"

#include <pthread.h>

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

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (!std::exchange(woken_, false)) {
        changed_.wait(lock, [this] { return stopping_ || woken_; });
        continue;
      }
      lock.unlock();
      const bool more = work_();
      lock.lock();
      woken_ = woken_ || more;
    }
  }

  std::function<bool()> work_;
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
