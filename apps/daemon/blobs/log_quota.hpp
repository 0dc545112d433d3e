#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::daemon {

/// How much all kept logs may take, and whose go when they take more: those of ended experiments, of the one
/// that ended first; then those of the oldest experiment. Of one experiment, by the numbers of its trials.
///
/// Threads: one at a time. Cost: add() logarithmic; take_surplus() linear in the experiments when there is
/// one.
class LogQuota {
 public:
  explicit LogQuota(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  /// A file of the trial has so many bytes now, and had so many before; 0 = there was none.
  void add(engine::ExperimentId experiment, engine::TrialNumber trial, std::uint64_t bytes,
           std::uint64_t before = 0);
  /// The logs of this trial, and of all with lower numbers that have none, were removed.
  void note_removed_up_to(engine::ExperimentId experiment, engine::TrialNumber trial);

  /// Nothing of the experiment is kept any more.
  void forget(engine::ExperimentId experiment);

  /// When the experiment ended; nothing while it goes on.
  using EndedAt = std::function<std::optional<engine::Instant>(engine::ExperimentId)>;
  using Trials = std::vector<std::pair<engine::ExperimentId, engine::TrialNumber>>;
  /// Those whose logs have to be removed now; they count no more.
  [[nodiscard]] Trials take_surplus(const EndedAt& ended_at);

  /// Whether logs of the trial were removed for want of room.
  [[nodiscard]] bool was_removed(engine::ExperimentId experiment, engine::TrialNumber trial) const;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t most_bytes() const noexcept { return most_bytes_; }

 private:
  std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;
  std::map<engine::ExperimentId, std::map<engine::TrialNumber, std::uint64_t>> kept_;
  std::map<engine::ExperimentId, engine::TrialNumber> removed_up_to_;
};

}  // namespace hpsearch::daemon
