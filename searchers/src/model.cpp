#include "hpsearch/searchers/model.hpp"

#include <string>

#include "hpsearch/engine/base/text.hpp"
#include "model/model_sampler.hpp"

namespace hpsearch::searchers {

using engine::ExperimentConfig;
using engine::Goal;
using engine::Score;
using engine::TrialNumber;
using engine::Units;
using engine::Value;

namespace {

model::ModelSettings settings_of(const engine::ModelConfig& config) {
  return {config.initial_results, config.explore,   config.min_correlation, config.noisy, config.size,
          config.fit_size,        config.candidates};
}

/// "expects 0.931 ± 0.004 at full length (ln of its expected improvement: -3.2); begins where results agree
/// with those at full length by 0.83; trials 12, 7 and 3 are nearest"
std::string told(const model::ModelSampler::Proposal& proposal, Goal goal) {
  const double mean = goal == Goal::maximize ? proposal.mean : -proposal.mean;
  std::string text =
      "expects " + engine::short_number(mean) + " ± " + engine::short_number(proposal.deviation) +
      " at full length (ln of its expected improvement: " + engine::short_number(proposal.log_improvement) +
      "); begins where results agree with those at full length by " +
      engine::short_number(proposal.correlation);
  for (std::size_t i = 0; i < proposal.nearest.size(); ++i) {
    text += i == 0 ? "; nearest trials: " : ", ";
    text += std::to_string(proposal.nearest[i].number());
  }
  return text;
}

class ModelBasedSampler final : public Sampler {
 public:
  explicit ModelBasedSampler(const ExperimentConfig& config)
      : goal_(config.searcher.goal()),
        model_(config.space, config.searcher.max_length, config.experiment_seed,
               settings_of(config.searcher.model)) {}

  [[nodiscard]] Sample sample(TrialNumber trial, std::span<const Units> rungs,
                              const Taken& /*taken*/) const override {
    const model::ModelSampler::Proposal& proposal = model_.propose(trial, rungs);
    Sample sample{proposal.hparams, proposal.first_rung};
    if (proposal.choice == model::ModelSampler::Choice::modelled) {
      sample.reason.why = engine::Reason::Why::model_choice;
      sample.reason.detail = told(proposal, goal_);
      sample.reason.results = proposal.results;
      if (!proposal.nearest.empty()) {
        sample.reason.near = proposal.nearest.front().number();
      }
    }
    return sample;
  }

  void on_prior(const Value& hparams, std::span<const Earlier> results) override {
    model_.hear_prior(hparams, results);
  }
  void on_created(TrialNumber /*trial*/, const Value& hparams, Units target) override {
    model_.hear_training(hparams, target);
  }
  void on_promoted(TrialNumber trial, Units target) override { model_.hear_training(trial, target); }
  void on_validated(TrialNumber trial, Units length, Score score) override {
    model_.hear_result(trial, length, score);
  }
  void on_exited(TrialNumber trial, engine::ExitReason reason) override { model_.hear_ended(trial, reason); }
  void on_closed(TrialNumber trial) override { model_.hear_ended(trial, engine::ExitReason::user_stopped); }

 private:
  Goal goal_;
  model::ModelSampler model_;
};

}  // namespace

std::unique_ptr<Sampler> make_model_sampler(const ExperimentConfig& config) {
  return std::make_unique<ModelBasedSampler>(config);
}

}  // namespace hpsearch::searchers
