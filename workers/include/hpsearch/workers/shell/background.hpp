#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "hpsearch/net/loop.hpp"

namespace hpsearch::workers {

/// Slow work on files beside the loop, a thread per task: there are only as many tasks as slots.
///
/// Threads: run() and the destructor on the loop's thread. The destructor waits for tasks that run; what they
/// wanted to tell the loop is not told any more.
class Background {
 public:
  using Afterwards = std::function<void()>;
  using Task = std::function<Afterwards()>;

  explicit Background(net::Loop& loop) : loop_(loop), present_(std::make_shared<bool>(true)) {}
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Runs `task` on a thread of its own, then what it returns on the loop. Waits while no thread can be
  /// begun.
  void run(Task task);

 private:
  void begin(std::uint64_t number, const std::shared_ptr<Task>& task);

  net::Loop& loop_;
  std::shared_ptr<bool> present_;  ///< Touched on the loop's thread only.
  std::map<std::uint64_t, std::thread> threads_;
  std::map<std::uint64_t, net::Watch> waiting_;  ///< For a thread.
  std::uint64_t last_ = 0;
};

}  // namespace hpsearch::workers
