#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/io/net/background.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/core/effects.hpp"
#include "hpsearch/workers/core/utilization/utilization_series.hpp"
#include "hpsearch/workers/shell/devices/slot_devices.hpp"
#include "hpsearch/workers/shell/processes/program_use.hpp"
#include "hpsearch/workers/shell/worker_state.hpp"

namespace hpsearch::workers {

/// The time between two samples: 10 s, or HPSEARCH_UTILIZATION_INTERVAL in seconds, for tests.
[[nodiscard]] std::chrono::milliseconds utilization_interval();

/// Measures the utilization of all running attempts with one reading of the process table, and the last
/// report about the devices. The series of an attempt is a file in its directory, beside its log, and is
/// written once a minute, when somebody reads it, and at the attempt's end.
///
/// Threads: the loop's, which outlives it, like the other arguments; it reads processes beside the loop.
class UtilizationWatch {
 public:
  using Running = std::function<std::vector<engine::AttemptKey>()>;
  using OnMeasured = std::function<void(AttemptsMeasured measured)>;

  /// `running` may name attempts whose programs don't run.
  UtilizationWatch(net::Loop& loop, const WorkerState& state, const SlotDevices& devices,
                   std::chrono::milliseconds every, Running running, OnMeasured on_measured);

  /// Writes what isn't in the attempt's file yet.
  void write(const engine::AttemptKey& key);
  void forget(const engine::AttemptKey& key) { watched_.erase(key); }

 private:
  using Uses = std::map<engine::AttemptKey, ProgramUse>;
  struct Watched {
    UtilizationSeries series;
    ProgramUse before{};  ///< At the last look.
    std::chrono::steady_clock::time_point looked_at{};
    std::chrono::steady_clock::time_point written_at{};
    bool has_news = false;
  };

  void look();
  void take(const Uses& uses, std::chrono::steady_clock::time_point at);
  [[nodiscard]] std::optional<proto::Utilization> sample(const engine::AttemptKey& key, Watched& watched,
                                                         const ProgramUse& use,
                                                         std::chrono::steady_clock::time_point at) const;

  const WorkerState& state_;
  const SlotDevices& devices_;
  Running running_;
  OnMeasured on_measured_;
  std::map<engine::AttemptKey, Watched> watched_;
  bool looking_ = false;
  net::Watch next_look_;
  net::Background background_;
};

}  // namespace hpsearch::workers
