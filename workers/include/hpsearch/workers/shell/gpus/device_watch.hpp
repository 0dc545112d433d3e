#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/core/devices.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

/// How to look at the devices.
struct DeviceLook {
  std::vector<std::string>
      command{};  ///< Prints to_value(DeviceReport) as JSON; empty: there is nothing to look at.
  std::chrono::milliseconds every{15'000};     ///< Between two looks.
  std::chrono::milliseconds deadline{20'000};  ///< A driver that takes longer does not answer.
  std::chrono::milliseconds settle{60'000};  ///< A device has so long to let go of a program that has ended.
};

/// Asks the driver, each time by a process of its own: one that hangs in the kernel, or crashes, costs an
/// answer and nothing else. While a process of before still hangs no other is started.
///
/// Threads: the loop's, which outlives it.
class DeviceWatch {
 public:
  using Answer = std::function<void(const DeviceReport& report)>;

  DeviceWatch(net::Loop& loop, DeviceLook look);
  ~DeviceWatch();
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;

  /// Answers, once and later, with what was seen after this call. A driver that does not answer is a report
  /// with a problem.
  void ask(Answer answer);

 private:
  void start();
  void read();
  void let_go();
  void finish(DeviceReport report);
  void answer_soon(DeviceReport report);
  [[nodiscard]] bool still_hangs();

  net::Loop& loop_;
  DeviceLook look_;
  pid_t child_ = 0;    ///< Under way, 0 = none.
  pid_t hanging_ = 0;  ///< Answered or given up, and not exited yet.
  std::chrono::steady_clock::time_point hanging_since_;
  Descriptor out_;
  std::string text_;
  net::Watch readable_;
  net::Watch deadline_;
  net::Watch soon_;
  std::vector<Answer> asking_;  ///< By the look under way.
  std::vector<Answer> next_;    ///< By the one after it.
};

/// One look, waited for: at most look.deadline.
[[nodiscard]] DeviceReport look_once(const DeviceLook& look);

}  // namespace hpsearch::workers
