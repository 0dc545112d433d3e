#pragma once

#include <string>
#include <vector>

#include "experiment/engine_state.hpp"

namespace hpsearch::engine {

/// Checks that events have in common when they are read back from the log. The check of each kind is its
/// function `problem_with` (events.hpp). Those that return a text return "" or the problem.
struct EventChecks {
  const EngineState& state;
  Instant at;  ///< When the event happened.

  /// nullptr: there is none.
  [[nodiscard]] const ExperimentRecord* find(ExperimentId id) const;
  [[nodiscard]] const TrialRecord* find(ExperimentId id, TrialNumber number) const;

  /// The experiment exists.
  [[nodiscard]] std::string experiment(ExperimentId id) const;
  /// The experiment exists and has not ended.
  [[nodiscard]] std::string going(ExperimentId id) const;
  /// The trial exists.
  [[nodiscard]] std::string trial(ExperimentId id, TrialNumber number) const;
  /// The trial exists and its state allows this move.
  [[nodiscard]] std::string moves(ExperimentId id, TrialNumber number, TrialMove move) const;
  /// The attempt has its lease.
  [[nodiscard]] std::string live(const AttemptKey& key) const;
  /// The attempt has its lease, has several workers, and this is one of them.
  [[nodiscard]] std::string member(const AttemptKey& key, WorkerId where) const;
  /// The worker is known.
  [[nodiscard]] std::string worker(WorkerId id) const;
  /// The worker is known and not lost.
  [[nodiscard]] std::string present(WorkerId id) const;
  /// The worker has these slots, each named once, and no lease holds any of them.
  [[nodiscard]] std::string vacant(WorkerId where, const std::vector<SlotIndex>& slots) const;
  /// Its numbers are those of a search in memory.
  [[nodiscard]] static std::string reason(const Reason& reason);
  /// So much time has passed since the event before.
  [[nodiscard]] std::string uncounted(Duration time) const;
  /// The effective config can be read, if this process has not read it already.
  [[nodiscard]] std::string config(const Value& effective, bool is_parsed) const;
};

/// The trial waits for a promotion, as its searcher sees it.
[[nodiscard]] bool may_be_promoted(const ExperimentRecord& record, TrialNumber trial);

}  // namespace hpsearch::engine
