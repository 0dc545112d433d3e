#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/score.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/searchers/ranked_list.hpp"

namespace hpsearch::searchers {

/// The rules of `searcher.stopping`: which trials stop before their full length, and why.
///
/// At the lengths after, after + every, … below the full one, a trial's best result so far is compared with
/// those that all others had there, whatever became of these since: with n of them, it goes on if fewer than
/// ceil(n · percent / 100) are better. A trial whose report passes several of these lengths is compared at
/// the last of them, and has no result at the others.
///
/// A trial got better when a result is better than the last one that counts so by more than min_delta. Once
/// it has trained `patience` without that, it stops. A result that is no number is no better.
///
/// A length is passed once: whatever a trial reports of it again, after a restart, changes nothing there.
///
/// Cost: O(log trials) per report. Memory: 24 bytes for each length that a trial passes.
/// Limit: trials numbered below 2^32; past that it aborts.
class StoppingRules {
 public:
  StoppingRules(const engine::StoppingConfig& rules, engine::Units max_length, engine::Goal goal);

  /// How many lengths there are at which trials are compared.
  [[nodiscard]] static std::uint64_t comparisons(const engine::StoppingConfig& rules,
                                                 engine::Units max_length) noexcept;
  /// The first of them, which may be beyond the full length.
  [[nodiscard]] static std::uint64_t first_length(const engine::StoppingConfig& rules,
                                                  engine::Units max_length) noexcept;

  /// A result before the full length, of a trial that trains.
  void on_reported(engine::TrialNumber trial, engine::Units step, engine::Score score);
  /// With invalid_hp, its results count no more. One that errored may be retried.
  void on_exited(engine::TrialNumber trial, engine::ExitReason reason);
  void on_closed(engine::TrialNumber trial);

  /// Why the trial stops after its latest report; nothing: it trains on.
  [[nodiscard]] std::optional<engine::Reason> early_stop(engine::TrialNumber trial) const;

 private:
  struct Entry {
    std::size_t comparison = 0;
    engine::Score score = engine::Score::worst();
  };
  struct Course {
    engine::Score best = engine::Score::worst();
    engine::Score reference = engine::Score::worst();  // When it last got better.
    std::uint64_t better_at = 0;
    std::vector<Entry> entries;  // By comparison.
    std::optional<engine::Reason> stop;
  };

  void note_progress(Course& course, std::uint64_t step, engine::Score score) const;
  [[nodiscard]] std::optional<engine::Reason> compared(Course& course, engine::TrialNumber trial,
                                                       std::uint64_t step);
  [[nodiscard]] std::optional<engine::Reason> out_of_patience(const Course& course, std::uint64_t step) const;

  engine::StoppingConfig rules_;
  engine::Goal goal_;
  std::uint64_t after_;
  std::uint64_t every_;
  std::vector<RankedList> results_;  // By comparison.
  std::map<engine::TrialNumber, Course> courses_;
};

/// Those of the config; nothing if it has none.
[[nodiscard]] std::optional<StoppingRules> make_stopping_rules(const engine::ExperimentConfig& config);

}  // namespace hpsearch::searchers
