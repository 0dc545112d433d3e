#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/score.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/learnt.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/engine/space/space.hpp"
#include "hpsearch/searchers/sampler.hpp"

namespace hpsearch::searchers::model {

struct ModelSettings {
  std::size_t initial_results = 8;  ///< Before the model speaks, at least 2.
  double explore = 0.05;            ///< This share of trials is not the model's; 1 = all.
  double min_correlation = 0.7;  ///< A trial begins at the lowest rung that agrees so far with full length;
                                 ///< 0 = always at the first.
  bool noisy = false;            ///< A repetition of a training gives another metric.
  std::size_t size = 240;        ///< Results it remembers at once, at least 64.
  std::size_t fit_size = 100;    ///< How many of them its hyperparameters are fitted to, at least 32.
  std::size_t candidates = 150;  ///< Uniform ones per proposal; those near good trials grow with it.
};

/// Proposes configurations where they promise most at full length, by a Gaussian process over configuration
/// and length that learns from every result of every rung (docs/searchers/model.md).
///
/// A proposal is a function of the seed, the trial's number, and what was heard, in order: neither of
/// proposals before nor of when it was asked. What it keeps of proposals only saves work.
///
/// Cost: hearing O(log n); a proposal O(size²) + O(n) additions; one after a fit is due O(20 fit_size³) more.
/// Memory O(size²) + O(n · parameters).
class ModelSampler {
 public:
  enum class Choice : std::uint8_t {
    initial,   ///< Too few results yet: the next point of an even sequence, or one that is drawn.
    explored,  ///< The same by lot, so that the model's mistakes cannot last.
    modelled,  ///< The model's.
    given_up,  ///< The same sequence, for the model's numbers were unusable or it found nothing that is new.
  };
  struct Proposal {
    engine::Value hparams;
    std::uint32_t first_rung = 0;
    Choice choice = Choice::initial;
    std::size_t results = 0;  ///< Heard by then, earlier ones included.
    bool expects = false;     ///< Some result is a number, and what follows is set.
    // For configurations that the model chose:
    double mean = 0;                    ///< Expected at full length, larger is better.
    double deviation = 0;               ///< The deviation of the expected metric.
    double log_improvement = 0;         ///< ln of the expected improvement, in deviations of all results.
    std::optional<double> correlation;  ///< Between metrics at the first rung and at full length; none if
                                        ///< there is one rung.
    std::vector<engine::TrialNumber> nearest;  ///< At most 3, nearest first; of this search alone.
  };
  /// The cost of the proposals so far.
  struct Work {
    std::uint64_t fits = 0;
    std::uint64_t kernel_values = 0;  ///< Fits apart.
    std::uint64_t solves = 0;         ///< Exact variances of candidates.
  };

  ModelSampler(const engine::Space& space, engine::Units max_length, std::uint64_t seed,
               const ModelSettings& settings);
  ~ModelSampler();
  ModelSampler(const ModelSampler&) = delete;
  ModelSampler& operator=(const ModelSampler&) = delete;

  /// An earlier search trained this configuration. Before the first trial.
  void hear_prior(const engine::Value& hparams, std::span<const Sampler::Earlier> results);
  /// The next trial begins to train. O(parameters).
  void hear_training(const engine::Value& hparams, engine::Units target);
  /// A trial trains on.
  void hear_training(engine::TrialNumber trial, engine::Units target);
  // For a trial that does not train, these change nothing.
  void hear_result(engine::TrialNumber trial, engine::Units length, engine::Score score);
  void hear_ended(engine::TrialNumber trial, engine::ExitReason reason);

  /// For the next trial; `rungs` are the lengths it may begin at, ascending, the last being the full length.
  [[nodiscard]] const Proposal& propose(engine::TrialNumber trial,
                                        std::span<const engine::Units> rungs) const;

  /// What it has learnt; metrics are those of this goal. It changes no later proposal. Cost: that of one.
  [[nodiscard]] engine::Learnt learnt(engine::Goal goal) const;

  [[nodiscard]] Work work() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hpsearch::searchers::model
