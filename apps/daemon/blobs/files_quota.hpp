#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::daemon {

/// What one worker handed over of one trial's files.
struct FileSet {
  engine::ExperimentId experiment;
  engine::TrialNumber trial;
  engine::WorkerId worker;
  friend auto operator<=>(const FileSet&, const FileSet&) = default;
};

/// How much all kept files may take at the daemon, and whose go when they take more: those of ended
/// experiments, of the one that ended first; then those of the oldest experiment. Of one experiment the trial
/// with the worst metric goes first, those without a metric before it; the one that comes last goes only for
/// the best one, as on workers.
///
/// Threads: one at a time. Cost: linear in all sets when there is a surplus, else logarithmic.
class FilesQuota {
 public:
  explicit FilesQuota(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  struct Weight {
    std::uint64_t bytes = 0;
    std::optional<double> metric{};
    bool larger_is_better = false;
  };

  /// When the experiment ended; nothing while it goes on.
  using EndedAt = std::function<std::optional<engine::Instant>(engine::ExperimentId)>;

  /// Counts the set, in the place of what it was before. Those that have to go for it, and count no more;
  /// among them it may be itself.
  [[nodiscard]] std::vector<FileSet> add(const FileSet& set, const Weight& weight, const EndedAt& ended_at);
  void forget(const FileSet& set);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t most_bytes() const noexcept { return most_bytes_; }

 private:
  std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;
  std::map<FileSet, Weight> sets_;
};

}  // namespace hpsearch::daemon
