#pragma once

#include <functional>
#include <memory>

namespace hpsearch::daemon {

/// Runs the work on the store, so that no other thread waits for its disk.
class StoreExecutor {
 public:
  StoreExecutor() = default;
  StoreExecutor(const StoreExecutor&) = delete;
  StoreExecutor& operator=(const StoreExecutor&) = delete;
  virtual ~StoreExecutor() = default;  ///< Finishes the piece of work in progress and begins no other.

  /// Requests work: it is done soon, piece by piece, until none is left, but never from within the call.
  virtual void wake() = 0;

  /// True while each piece of work has taken so little time that the caller can do it: waking another thread
  /// would cost a good part of that.
  [[nodiscard]] virtual bool may_be_spared() const noexcept { return false; }
  /// Does one piece of work, if there is one, on the caller's thread. False if the executor must do it after
  /// all.
  [[nodiscard]] virtual bool spare() { return false; }
};

/// Makes an executor for `work`, which does one piece and returns whether there was one.
using EmployStoreExecutor = std::function<std::unique_ptr<StoreExecutor>(std::function<bool()> work)>;

/// A thread that does only this and leaves all signals to the loop's. It may be spared while each of the last
/// pieces took less than a millisecond: a disk that stalls holds its caller up once, and not again before it
/// was quick for a while.
[[nodiscard]] std::unique_ptr<StoreExecutor> on_a_thread_of_its_own(std::function<bool()> work);
/// The same, but never spared: for a store at the other end of a network, which may not answer for long.
[[nodiscard]] std::unique_ptr<StoreExecutor> on_another_thread(std::function<bool()> work);

}  // namespace hpsearch::daemon
