#pragma once

#include <cstdint>
#include <vector>

#include "hpsearch/engine/base/chunked_vector.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/experiment/trial_record.hpp"

namespace hpsearch::engine {

/// How far the trials of an experiment are, counted as they go: what there is to say of a million of them
/// costs as much as there are lengths that trials are asked for, which are the rungs.
///
/// Cost: O(log lengths) per event, and one rung more for each that a report or an end passes. A length that
/// no trial was asked for before costs one look at all trials.
class TrialTally {
 public:
  using Trials = ChunkedVector<TrialRecord>;

  /// Each is told after the record changed; `trials` are all of the experiment.
  void created(const Trials& trials, Units length);
  void asked(const Trials& trials, Units before, Units length);
  void got_to(const TrialRecord& trial, Units before);  ///< Its reached was `before`.
  void trained(Units more) noexcept { trained_ += count(more); }
  void closed(const TrialRecord& trial);
  void reopened(const TrialRecord& trial);  ///< It is closed, and about to be so no more.
  /// Of records that were loaded. O(trials × log lengths).
  void count_anew(const Trials& trials);

  /// Sum of what all trials were trained.
  [[nodiscard]] Cardinality trained() const noexcept { return trained_; }

  struct Rung {
    Units length{};             ///< Some trial is asked for it at present.
    std::uint64_t reached = 0;  ///< Trials that got at least that far.
    std::uint64_t final =
        0;  ///< Closed ones of which it is the longest rung that they were asked for and reached.
  };
  /// By length, ascending. O(lengths).
  [[nodiscard]] std::vector<Rung> rungs() const;

 private:
  struct Length {
    Units length{};
    std::uint64_t asked = 0;    // Trials whose length it is.
    std::uint64_t reached = 0;  // That got at least there.
    std::uint64_t closed = 0;   // Closed ones that were asked for at least as much, and got there.
  };
  std::vector<Length>::iterator above(Units length);
  Length& at(const Trials& trials, Units length);
  void pass(Units before, Units now, std::uint64_t Length::*count);

  std::vector<Length> lengths_;  // Ascending; once asked for, a length stays.
  Cardinality trained_ = 0;
};

}  // namespace hpsearch::engine
