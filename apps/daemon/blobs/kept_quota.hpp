#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::daemon {

/// The unit that is counted and removed: the files of a trial from one worker, or all logs of a trial. Items
/// without a metric are removed in this order.
struct KeptItem {
  enum class Kind : std::uint8_t { files, logs };

  engine::ExperimentId experiment;
  Kind kind = Kind::files;
  engine::TrialNumber trial;
  engine::WorkerId worker;  ///< The worker, for files.
  friend auto operator<=>(const KeptItem&, const KeptItem&) = default;
};

/// The disk space of a file of that size, in whole blocks: most logs are shorter than one block.
[[nodiscard]] std::uint64_t bytes_on_disk(std::uint64_t bytes) noexcept;

/// Applies one limit to everything that the daemon keeps of workers, and chooses what is removed beyond it:
/// first from ended experiments, in the order of their ends, then from the oldest running one. An experiment
/// loses files before logs: files of trials without a metric first, then those of the worst trials; logs by
/// the numbers of their trials. The latest files are removed only for those of the best trial, as on workers.
/// Logs can have a limit of their own below it; beyond that, they are removed in the same order.
///
/// Threads: one at a time. Cost: count() and forget() logarithmic; take_surplus() linear in the experiments
/// and, if there is a surplus, in the files of those that lose some.
class KeptQuota {
 public:
  explicit KeptQuota(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  /// Other limits; take_surplus() chooses what is beyond them.
  void limit_to(std::uint64_t most_bytes,
                std::uint64_t most_log_bytes = std::numeric_limits<std::uint64_t>::max()) noexcept {
    most_bytes_ = most_bytes;
    most_log_bytes_ = most_log_bytes;
  }

  struct Weight {
    std::uint64_t bytes = 0;
    std::optional<double> metric{};
    bool larger_is_better = false;
  };

  /// Replaces what was counted for the item; an item without bytes is removed.
  void count(const KeptItem& item, const Weight& weight);
  /// A file of the item has `bytes` now, and had `before`; 0: there was none.
  void count_file(const KeptItem& item, std::uint64_t bytes, std::uint64_t before = 0);
  void forget(const KeptItem& item) { count(item, {}); }
  void forget(engine::ExperimentId experiment);

  /// When the experiment ended; null while it is active.
  using EndedAt = std::function<std::optional<engine::Instant>(engine::ExperimentId)>;
  /// The items to remove now; they are no longer counted. Only `latest` if nothing else can make room for it.
  [[nodiscard]] std::vector<KeptItem> take_surplus(const EndedAt& ended_at, const KeptItem& latest = {});

  [[nodiscard]] bool has(const KeptItem& item) const { return items_.contains(item); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t log_bytes() const noexcept { return log_bytes_; }

 private:
  using Items = std::map<KeptItem, Weight>;
  [[nodiscard]] std::vector<engine::ExperimentId> by_age(const EndedAt& ended_at) const;
  void take(KeptItem item, std::vector<KeptItem>& surplus);
  void take_logs_beyond_limit(const EndedAt& ended_at, std::vector<KeptItem>& surplus);
  void add(const KeptItem& item, std::uint64_t bytes) noexcept;
  void subtract(const KeptItem& item, std::uint64_t bytes) noexcept;

  std::uint64_t most_bytes_;
  std::uint64_t most_log_bytes_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t bytes_ = 0;
  std::uint64_t log_bytes_ = 0;  ///< A part of them.
  Items items_;
};

}  // namespace hpsearch::daemon
