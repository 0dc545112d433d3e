#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/scheduler/plan.hpp"

namespace hpsearch::engine {

/// The scheduler's tasks, so that the cost of a step depends on its changes and not on all that exists.
/// Follows from the rest of the state at any time, and is in no log.
struct Agenda {
  std::vector<ExperimentId> touched;  ///< Something of them changed since they were looked after.
  std::vector<ExperimentId>
      unfinished;  ///< More of their trials are to end or to start than one step may: the next one goes on.
  ClaimQueue claims;                                     ///< Active, and below their own limits.
  std::set<std::pair<Instant, ExperimentId>> deadlines;  ///< When a budget of time will be spent.
  std::map<ExperimentId, Instant> deadline_of;
  /// A trial or a worker that has to wait, with the end of the wait.
  struct DelayedStart {
    Instant until;
    ExperimentId experiment;
    TrialNumber trial;
    WorkerId worker;  ///< 0 = it is the trial.
    friend auto operator<=>(const DelayedStart&, const DelayedStart&) = default;
  };
  std::set<DelayedStart> delayed;
  std::set<WorkerId> resting;  ///< Workers among them.

  /// There is no such experiment any more.
  void forget(ExperimentId experiment) {
    std::erase(touched, experiment);
    std::erase(unfinished, experiment);
    claims.remove(experiment);
    set_deadline(experiment, std::nullopt);
    std::erase_if(delayed, [experiment](const DelayedStart& start) {
      return start.worker == WorkerId{} && start.experiment == experiment;
    });
  }

  void set_deadline(ExperimentId experiment, std::optional<Instant> deadline) {
    const auto known = deadline_of.find(experiment);
    if (known != deadline_of.end()) {
      if (deadline == known->second) {
        return;
      }
      deadlines.erase({known->second, experiment});
      deadline_of.erase(known);
    }
    if (deadline) {
      deadlines.emplace(*deadline, experiment);
      deadline_of.emplace(experiment, *deadline);
    }
  }
};

}  // namespace hpsearch::engine
