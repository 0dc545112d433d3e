#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/core/runtime.hpp"
#include "daemon/retention/retention_rules.hpp"
#include "hpsearch/io/net/timeline.hpp"

namespace hpsearch::daemon {

/// Removes what the rules no longer keep, and the rows of deleted experiments, a little at a time, by
/// commands to the engine: each removal is an event of the log.
///
/// Threads: the runtime's; curves are read on the store's.
class Retention {
 public:
  using Trial = std::pair<engine::ExperimentId, engine::TrialNumber>;

  /// The runtime must have recovered, and must outlive this.
  Retention(Runtime& runtime, RetentionRules rules);
  Retention(const Retention&) = delete;
  Retention& operator=(const Retention&) = delete;

  /// Other rules from now on.
  void follow(RetentionRules rules);

  /// Removes what is due now, at most a few experiments, some hundred curves and the rows of some thousand
  /// trials; also done from time to time. O(experiments), and a part of their trials.
  void look();

  /// Removes nothing any more: a daemon that ends waits until its store is idle.
  void stop() noexcept;

  /// Records that kept logs of these trials were removed to make room.
  void note_removed_logs(const std::vector<Trial>& trials);

 private:
  void remove_experiments();
  void remove_rows();
  void thin_next_curve();
  [[nodiscard]] std::optional<Trial> next_trial();

  Runtime& runtime_;
  RetentionRules rules_;
  bool reads_a_curve_ = false;
  std::uint64_t trials_left_ = 0;                           ///< To look at, until the next look.
  std::uint64_t curves_left_ = 0;                           ///< To read, likewise.
  std::uint64_t thinned_ = 0;                               ///< Since the last look.
  Trial next_{};                                            ///< The trial to look at next.
  std::map<engine::ExperimentId, std::vector<bool>> read_;  ///< Trials whose curves were read, by number.
  net::Watch clock_;
};

}  // namespace hpsearch::daemon
