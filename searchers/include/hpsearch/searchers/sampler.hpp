#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/score.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/searchers/trial_listener.hpp"

namespace hpsearch::searchers {

/// Chooses configurations by what came of earlier ones: the part of a Proposer that a new way to search is
/// written as. Points that users gave, and that no configuration starts twice, are seen to by
/// make_sampling_proposer().
///
/// A sample is a function of the seed, the trial's number and what was heard so far in order, and of nothing
/// else: no clock, and nothing that earlier samples left behind. So a search that was restored goes on as one
/// that never stopped. With several brackets there is one sampler, which hears of all trials.
///
/// Threads: one at a time.
class Sampler : public TrialListener {
 public:
  struct Sample {
    engine::Value hparams;  ///< In the space, and complete.
    /// Where in `rungs` it begins: it counts there and above, and not below. Past the last means the last.
    std::uint32_t first_rung = 0;
    /// For people: why this one. Its `why` and `detail`, unless `why` is new_trial, and its numbers of
    /// proposals (near, near_rank, results, spread, expected) go into the trial's reason.
    engine::Reason reason = {};
  };
  /// Configurations that must not start: those that may not start again, and those that the space's
  /// conditions leave out. Empty where there is nothing of this kind.
  using Taken = std::function<bool(const engine::Value& hparams)>;

  /// A result of an earlier search, and the length that it is of.
  struct Earlier {
    engine::Units length{};
    engine::Score score = engine::Score::worst();
  };
  /// What an earlier search measured in one training of a configuration of this space, shortest first, at
  /// least one result: heard before anything else. It is no trial of this search, and may be proposed again.
  virtual void on_prior(const engine::Value& /*hparams*/, std::span<const Earlier> /*results*/) {}

  /// For the next trial, whose number this is. `rungs` are the lengths at which it is compared with others,
  /// ascending; the last is the full length. A sample that is taken is replaced by another draw of the space.
  [[nodiscard]] virtual Sample sample(engine::TrialNumber trial, std::span<const engine::Units> rungs,
                                      const Taken& taken) const = 0;

  /// For people: what a model has learnt so far; nothing without a model. It changes no later sample.
  [[nodiscard]] virtual std::optional<engine::Learnt> learnt() const;
};

/// The one that the config names; nothing for random draws.
[[nodiscard]] std::unique_ptr<Sampler> make_sampler(const engine::ExperimentConfig& config);

}  // namespace hpsearch::searchers
