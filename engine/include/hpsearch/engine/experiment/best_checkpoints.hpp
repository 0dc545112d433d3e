#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/chunked_vector.hpp"
#include "hpsearch/engine/base/score.hpp"
#include "hpsearch/engine/experiment/trial_record.hpp"

namespace hpsearch::engine {

/// The best measured checkpoints of an experiment, as many as its retention saves: kept up as they are
/// measured, so that no caller has to look for them among those of a million trials.
class BestCheckpoints {
 public:
  using Trials = ChunkedVector<TrialRecord>;

  BestCheckpoints() = default;
  /// `most`: save_experiment_best.
  BestCheckpoints(std::uint64_t most, Goal goal) noexcept : most_(most), goal_(goal) {}

  /// The trial's last checkpoint was measured, for the first time or once more. O(most); O(checkpoints) when
  /// it was one of these with another value.
  void measured(const Trials& trials, TrialNumber trial);
  /// One of the trial's is not there any more. O(most), and O(checkpoints) when it was one of these: others
  /// move up.
  void gone(const Trials& trials, TrialNumber trial, std::string_view path);
  /// For records that were loaded. O(checkpoints × most) at worst.
  void find_anew(const Trials& trials);

  struct Entry {
    double metric = 0;
    TrialNumber trial;
    std::string path;
  };
  /// Best first; ties to the older trial, then to the older checkpoint.
  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  void add(TrialNumber trial, const KnownCheckpoint& checkpoint);

  std::uint64_t most_ = 0;
  Goal goal_ = Goal::minimize;
  std::vector<Entry> entries_;
};

}  // namespace hpsearch::engine
