#pragma once

#include <cstdint>
#include <optional>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::engine::sim {

/// The training whose curve is requested. Borrowed for the call.
struct Training {
  TrialNumber trial;
  const Value& hparams;
  std::uint64_t op = 0;  ///< Which piece of work of this trial, from 0: its creation, then each promotion.
};

/// Where simulated trainings get their measurements from: a table, an expression, a model of real trainings.
///
/// The same question gets the same answer, in whatever order questions come; a source may keep what it
/// computed, which is why asking is not const.
///
/// Units:   lengths are the experiment's; times are seconds.
/// Threads: callers take turns.
class Curves {
 public:
  Curves() = default;
  Curves(const Curves&) = delete;
  Curves& operator=(const Curves&) = delete;
  virtual ~Curves() = default;

  /// Whether this trial has a curve; asked once, before anything else about it. A failure ends the
  /// simulation, unless the trial ends before it would report; nothing else is asked about it then.
  [[nodiscard]] virtual Status covers(const Training& /*training*/) { return Done{}; }

  /// What the searcher's metric is after training `length` units in all. May be NaN or infinite.
  [[nodiscard]] virtual double metric(const Training& training, Units length) = 0;

  /// True when trainings take the source's own time; seconds() means something then.
  [[nodiscard]] virtual bool has_times() const noexcept { return false; }

  /// How long training from length `from` to length `to` (at least `from`) takes; never negative.
  [[nodiscard]] virtual double seconds(const Training& /*training*/, Units from, Units to) {
    return static_cast<double>(count(to) - count(from));
  }

  /// The best metric that any configuration can reach, where that is known.
  [[nodiscard]] virtual std::optional<double> best() const { return std::nullopt; }
};

}  // namespace hpsearch::engine::sim
