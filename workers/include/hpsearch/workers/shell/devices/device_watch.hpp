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

/// How the devices are polled.
struct DeviceLook {
  std::vector<std::string>
      command{};  ///< Prints to_value(DeviceReport) as JSON; empty: no driver can be asked.
  std::chrono::milliseconds every{15'000};     ///< The time between two polls.
  std::chrono::milliseconds deadline{20'000};  ///< A driver that takes longer counts as unresponsive.
  std::chrono::milliseconds settle{60'000};    ///< How long a device may list a program that has ended.
};

/// Polls the driver, each time in a new process: one that hangs in the kernel, or crashes, costs only an
/// answer. While such a process hangs, no other is started.
///
/// Threads: the loop's, which outlives it.
class DeviceWatch {
 public:
  using Answer = std::function<void(const DeviceReport& report)>;

  DeviceWatch(net::Loop& loop, DeviceLook look);
  ~DeviceWatch();
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;

  /// Answers later, once, with a report that began after this call. If the driver doesn't answer, the report
  /// has a problem.
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
  pid_t child_ = 0;    ///< The current one, 0 = none.
  pid_t hanging_ = 0;  ///< It has answered or timed out, and hasn't exited yet.
  std::chrono::steady_clock::time_point hanging_since_;
  Descriptor out_;
  std::string text_;
  net::Watch readable_;
  net::Watch deadline_;
  net::Watch soon_;
  std::vector<Answer> asking_;  ///< Waiting for the current report.
  std::vector<Answer> next_;    ///< Waiting for the next one.
};

/// One poll, synchronous: at most look.deadline.
[[nodiscard]] DeviceReport look_once(const DeviceLook& look);

}  // namespace hpsearch::workers
