#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace hpsearch::engine {

/// A number that names one thing of one kind; an id of another kind does not fit in its place.
template <class Kind>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::uint64_t number) noexcept : number_(number) {}
  [[nodiscard]] constexpr std::uint64_t number() const noexcept { return number_; }
  friend constexpr auto operator<=>(Id, Id) noexcept = default;

 private:
  std::uint64_t number_ = 0;
};

using ExperimentId = Id<struct ExperimentKind>;  ///< From 1, never reused.
using TrialId = Id<struct TrialKind>;            ///< From 1 across all experiments, never reused.
using WorkerId = Id<struct WorkerKind>;          ///< From 1, never reused.

/// Which trial of its experiment, from 0 in order of creation. Searchers and people name trials by it.
using TrialNumber = Id<struct TrialNumberKind>;

/// Which run of its trial, from 1. A restart, a resume and a promotion from a checkpoint are new attempts.
using AttemptNumber = Id<struct AttemptKind>;

/// Place of an event in the log, from 1 without gaps; the total order of everything that was decided.
using Lsn = Id<struct LsnKind>;

/// Who may speak for a trial: the number (Numbering) of the LeaseGranted event. Grows with every lease, so it
/// fences.
using LeaseId = Id<struct LeaseKind>;

/// One slot (a GPU, or a share of the cores) of one worker, from 0.
using SlotIndex = Id<struct SlotKind>;

}  // namespace hpsearch::engine

template <class Kind>
struct std::hash<hpsearch::engine::Id<Kind>> {
  std::size_t operator()(hpsearch::engine::Id<Kind> id) const noexcept {
    return std::hash<std::uint64_t>{}(id.number());
  }
};
