#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/space/space.hpp"
#include "hpsearch/searchers/sampler.hpp"
#include "hpsearch/searchers/trial_listener.hpp"

namespace hpsearch::searchers {

/// The half of a searcher that chooses configurations, and at which rung a new trial begins. How many trials
/// there are and which train on is a StoppingPolicy's half.
///
/// A proposal is a function of the seed, the trial's number and what was heard so far, nothing else. It may
/// be asked for several times, or never.
class Proposer : public TrialListener {
 public:
  using Proposal = Sampler::Sample;

  /// For the next trial; `trial` is its number, `rungs` the lengths at which it is compared with others. Not
  /// called when exhausted.
  [[nodiscard]] virtual Proposal propose(engine::TrialNumber trial,
                                         std::span<const engine::Units> rungs) const = 0;

  /// These come next, one after the other, instead of given points that were not started yet.
  virtual void on_points(std::vector<engine::Value> /*points*/) {}
  /// With `reject`, nothing that was started before is proposed from now on; `started` is all of it.
  virtual void on_duplicates(bool /*reject*/, const std::vector<engine::Value>& /*started*/) {}
  /// Configurations that were not started yet; nothing if they are not countable.
  [[nodiscard]] virtual std::optional<engine::Cardinality> remaining() const noexcept { return std::nullopt; }

  /// For people: what a model has learnt so far; nothing without a model.
  [[nodiscard]] virtual std::optional<engine::Learnt> learnt() const;

  /// There is no further configuration to propose.
  [[nodiscard]] virtual bool exhausted() const noexcept { return false; }
};

/// Independent uniform draws, after the points the user gave. With `reject` none starts twice: a point that
/// was started is left out, and a draw that was is replaced, in a finite space by the next unused
/// configuration of the shuffled space, in one with a real-valued parameter by another draw. Should 256 more
/// draws give nothing new, a range has hardly a number in it, and the space counts as exhausted.
///
/// Cost: O(parameters); with `reject` also O(log trials), and memory for one number per trial.
[[nodiscard]] std::unique_ptr<Proposer> make_random_proposer(const engine::ExperimentConfig& config);

/// What `sampler` chooses, or random draws where there is none, after the points the user gave. With
/// `reject`, a point that was started is left out, and a sample that was is replaced by a random draw as
/// above. A sample is taken once and kept until something else is heard, as it may cost something.
///
/// Cost: O(parameters) and that of the sampler; memory as above.
[[nodiscard]] std::unique_ptr<Proposer> make_sampling_proposer(const engine::ExperimentConfig& config,
                                                               std::unique_ptr<Sampler> sampler);

/// Grid point k for trial k.
[[nodiscard]] std::unique_ptr<Proposer> make_grid_proposer(const engine::ExperimentConfig& config);

/// How many trials a random proposer can serve: the size of a finite space under `reject`; nothing when
/// it is not countable.
[[nodiscard]] std::optional<engine::Cardinality> supply_of(const engine::ExperimentConfig& config);

}  // namespace hpsearch::searchers
