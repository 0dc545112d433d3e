#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <thread>

#include "hpsearch/io/net/loop.hpp"

namespace hpsearch::net {

/// Runs slow tasks on threads beside the loop, in the order in which they come.
///
/// Threads: run() and the destructor on the loop's thread. The destructor waits for tasks that run and drops
/// the others; nothing is called on the loop any more.
class Background {
 public:
  using Afterwards = std::function<void()>;
  using Task = std::function<Afterwards()>;

  explicit Background(Loop& loop, std::size_t most_threads = std::numeric_limits<std::size_t>::max())
      : loop_(loop), most_threads_(most_threads), present_(std::make_shared<bool>(true)) {}
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Runs `task` on a thread of its own, then what it returns on the loop. Waits while `most_threads` run or
  /// while the system allows no new thread.
  void run(Task task);
  [[nodiscard]] Loop& loop() noexcept { return loop_; }

 private:
  void begin();

  Loop& loop_;
  std::size_t most_threads_;
  std::shared_ptr<bool> present_;  ///< Touched on the loop's thread only.
  std::deque<std::shared_ptr<Task>> waiting_;
  std::map<std::uint64_t, std::thread> threads_;
  Watch retry_;
  bool retrying_ = false;
  std::uint64_t last_ = 0;
};

}  // namespace hpsearch::net
