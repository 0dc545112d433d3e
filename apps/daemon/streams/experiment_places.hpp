#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "daemon/access/scope.hpp"
#include "daemon/core/runtime.hpp"
#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::daemon {

/// The workspace of each experiment, for code that reads events beside the loop.
///
/// Threads: any; it is filled on the loop's, before an event of the experiment is durable.
class ExperimentPlaces {
 public:
  ExperimentPlaces() = default;
  ExperimentPlaces(const ExperimentPlaces&) = delete;
  ExperimentPlaces& operator=(const ExperimentPlaces&) = delete;

  /// Adds existing experiments, and new ones as long as the Watch lives.
  [[nodiscard]] static net::Watch fill(const std::shared_ptr<ExperimentPlaces>& places, Runtime& runtime);

  /// Whether a caller with these workspaces may see the event. O(log experiments).
  [[nodiscard]] bool shows(const Scope& scope, const engine::EventBody& event) const;

 private:
  void put(engine::ExperimentId experiment, std::string_view workspace);

  mutable std::mutex mutex_;
  std::map<engine::ExperimentId, std::string> workspaces_;
};

}  // namespace hpsearch::daemon
