#include "evolution.hpp"

#include <algorithm>
#include <cstddef>
#include <hpsearch/engine/base/draw.hpp>
#include <hpsearch/engine/config/experiment_config.hpp>
#include <hpsearch/searchers/async_halving.hpp>
#include <hpsearch/searchers/sampler.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace hpsearch::engine;
using hpsearch::searchers::Sampler;

constexpr std::size_t population = 20;
constexpr std::size_t rivals = 5;

/// Aging evolution (Real et al., "Regularized Evolution for Image Classifier Architecture Search", AAAI
/// 2019): of the latest 20 trials with results, five are drawn, and the best of them is the parent. Its child
/// gets each value from the parent or, in one of four cases, from a random draw.
class Evolution final : public Sampler {
 public:
  explicit Evolution(const ExperimentConfig& config) : space_(config.space), seed_(config.experiment_seed) {}

  [[nodiscard]] Sample sample(TrialNumber trial, std::span<const Units> /*rungs*/,
                              const Taken& taken) const override {
    const Value stranger = space_.sample(seed_, trial);
    if (alive_.size() < population) {
      return {stranger};
    }
    Draw draw(seed_, trial, "evolution");  // The same numbers for this trial whenever it is asked for.
    const TrialNumber parent = winner(draw);
    const std::vector<double> genes = space_.to_unit(trials_[parent.number()].hparams);
    std::vector<double> child = space_.to_unit(stranger);
    for (std::size_t gene = 0; gene < child.size(); ++gene) {
      child[gene] = draw.below(4) == 0 ? child[gene] : genes[gene];
    }
    Sample sample{space_.from_unit(child)};
    if (taken && taken(sample.hparams)) {
      sample.hparams = stranger;
    }
    sample.reason.why = Reason::Why::near_trial;
    sample.reason.near = parent.number();
    sample.reason.results = results_;
    return sample;
  }

  void on_created(TrialNumber /*trial*/, const Value& hparams, Units /*target*/) override {
    trials_.push_back({hparams});
  }
  void on_validated(TrialNumber trial, Units /*length*/, Score score) override {
    if (!trials_[trial.number()].score) {
      ++results_;
      alive_.push_back(trial);
      if (alive_.size() > population) {
        alive_.erase(alive_.begin());  // The oldest dies, however good it is.
      }
    }
    trials_[trial.number()].score = score;
  }
  void on_exited(TrialNumber trial, ExitReason /*reason*/) override {
    std::erase(alive_, trial);  // A failed trial has no children.
  }

 private:
  struct Trial {
    Value hparams;
    std::optional<Score> score = {};  // The latest.
  };

  [[nodiscard]] TrialNumber winner(Draw& draw) const {
    TrialNumber best = alive_[draw.below(alive_.size())];
    for (std::size_t rival = 1; rival < rivals; ++rival) {
      const TrialNumber other = alive_[draw.below(alive_.size())];
      best = *trials_[other.number()].score < *trials_[best.number()].score ? other : best;
    }
    return best;
  }

  Space space_;
  std::uint64_t seed_;
  std::uint64_t results_ = 0;
  std::vector<Trial> trials_;       // By number.
  std::vector<TrialNumber> alive_;  // With results, oldest first.
};

}  // namespace

SearcherKind evolution_kind() noexcept {
  static constexpr std::string_view fields[] = {"divisor",   "max_concurrent_trials", "max_trials",
                                                "num_rungs", "on_duplicate",          "points_to_evaluate",
                                                "stop_once"};
  SearcherKind kind = hpsearch::searchers::async_halving_kind();  // Its checks and its preview hold here too.
  kind.name = "evolution";
  kind.fields = fields;
  kind.make = [](const ExperimentConfig& config) -> std::unique_ptr<Searcher> {
    return hpsearch::searchers::make_async_halving(config, std::make_unique<Evolution>(config));
  };
  return kind;
}
