#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hpsearch/engine/base/chunked_vector.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/experiment/trial_record.hpp"

namespace hpsearch::engine {

/// The length at which a trial ends whose program trains no further: what it reached, at most what it was
/// asked for. Nothing for every other trial.
[[nodiscard]] std::optional<Units> own_length(const TrialRecord& trial);

/// How far the trials of an experiment are, counted as they go: what there is to say of a million of them
/// costs as much as there are lengths that trials are asked for, which are the rungs, and lengths at which
/// programs end by themselves.
///
/// Cost: O(log lengths) per event, and one rung more for each that a report or an end passes. A length that
/// no trial had before costs one look at all trials.
class TrialTally {
 public:
  using Trials = ChunkedVector<TrialRecord>;

  /// Each is called after the record changed; `trials` are all of the experiment.
  void created(const Trials& trials, Units length);
  void asked(const Trials& trials, Units before, Units length);
  void got_to(const TrialRecord& trial, Units before);  ///< Its reached was `before`.
  void trained(Units more) noexcept { trained_ += count(more); }
  void own(const Trials& trials, std::optional<Units> before,
           std::optional<Units> now);  ///< See own_length().
  void closed(const TrialRecord& trial);
  void reopened(const TrialRecord& trial);  ///< It is closed, and about to be so no more.
  /// For records that were loaded. O(trials × log lengths).
  void count_anew(const Trials& trials);

  /// Sum of what all trials were trained.
  [[nodiscard]] Cardinality trained() const noexcept { return trained_; }

  struct Rung {
    Units length{};             ///< Some trial is asked for it at present.
    std::uint64_t reached = 0;  ///< Trials that got at least that far.
  };
  /// By length, ascending. O(lengths).
  [[nodiscard]] std::vector<Rung> rungs() const;

  struct Final {
    Units length{};            ///< A rung, or the own length of some program.
    std::uint64_t trials = 0;  ///< Closed ones that were asked for it and reached it, and no longer one.
  };
  /// By length, ascending; those without a trial are left out. O(lengths).
  [[nodiscard]] std::vector<Final> finals() const;

 private:
  struct Length {
    Units length{};
    std::uint64_t asked = 0;    // Trials whose length it is.
    std::uint64_t own = 0;      // Trials whose own length it is.
    std::uint64_t reached = 0;  // That got at least there.
    std::uint64_t closed = 0;   // Closed ones that were asked for at least as much, and got there.
  };
  std::vector<Length>::iterator above(Units length);
  Length& at(const Trials& trials, Units length);
  void pass(Units before, Units now, std::uint64_t Length::*count);

  std::vector<Length> lengths_;  // Ascending; once a trial had it, a length stays.
  Cardinality trained_ = 0;
};

}  // namespace hpsearch::engine
