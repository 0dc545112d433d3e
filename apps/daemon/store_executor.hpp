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
};

/// Employs an executor for `work`, which does one piece and says whether there was one.
using EmployStoreExecutor = std::function<std::unique_ptr<StoreExecutor>(std::function<bool()> work)>;

/// A thread that does nothing else and leaves all signals to the loop's.
[[nodiscard]] std::unique_ptr<StoreExecutor> on_a_thread_of_its_own(std::function<bool()> work);

}  // namespace hpsearch::daemon
