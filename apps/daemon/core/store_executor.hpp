#pragma once

#include <functional>
#include <memory>

namespace hpsearch::daemon {

/// Who works with the store, so that nobody else waits for its disk.
class StoreExecutor {
 public:
  StoreExecutor() = default;
  StoreExecutor(const StoreExecutor&) = delete;
  StoreExecutor& operator=(const StoreExecutor&) = delete;
  virtual ~StoreExecutor() = default;  ///< The piece of work in progress is finished; no other is begun.

  /// There is work: it is done soon, piece by piece, until none is left. Never from within the call.
  virtual void wake() = 0;

  /// True while a piece of work has taken so little each time that the caller might as well do it: waking
  /// somebody for it would take a good part of that.
  [[nodiscard]] virtual bool may_be_spared() const noexcept { return false; }
  /// Does one piece of work, if there is one, on the caller's thread. False when it is for the executor after
  /// all.
  [[nodiscard]] virtual bool spare() { return false; }
};

/// Employs an executor for `work`, which does one piece and says whether there was one.
using EmployStoreExecutor = std::function<std::unique_ptr<StoreExecutor>(std::function<bool()> work)>;

/// A thread that does nothing else and leaves all signals to the loop's. It may be spared while each of the
/// last pieces took less than a millisecond: a disk that stalls holds its caller up once, not again before it
/// was quick for a while.
[[nodiscard]] std::unique_ptr<StoreExecutor> on_a_thread_of_its_own(std::function<bool()> work);

}  // namespace hpsearch::daemon
