#include "hpsearch/searchers/model.hpp"

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

engine::Reason::Why why_of(model::ModelSampler::Choice choice) {
  using Choice = model::ModelSampler::Choice;
  switch (choice) {
    case Choice::initial:
      return engine::Reason::Why::before_model;
    case Choice::explored:
    case Choice::given_up:
      return engine::Reason::Why::explored;
    case Choice::modelled:
      return engine::Reason::Why::model_choice;
  }
  return engine::Reason::Why::new_trial;
}

engine::ExpectedResult expected_of(const model::ModelSampler::Proposal& proposal, Goal goal) {
  engine::ExpectedResult expected;
  expected.mean = goal == Goal::maximize ? proposal.mean : -proposal.mean;
  expected.deviation = proposal.deviation;
  expected.log_improvement = proposal.log_improvement;
  expected.correlation = proposal.correlation;
  for (const TrialNumber trial : proposal.nearest) {
    expected.nearest.push_back(trial.number());
  }
  return expected;
}

class ModelBasedSampler final : public Sampler {
 public:
  explicit ModelBasedSampler(const ExperimentConfig& config)
      : goal_(config.searcher.goal()),
        model_(config.space, config.searcher.max_length, config.experiment_seed,
               settings_of(config.searcher.model)) {}

  [[nodiscard]] Sample sample(TrialNumber trial, std::span<const Units> rungs,
                              const Taken& /*taken*/) const override {
    using Choice = model::ModelSampler::Choice;
    const model::ModelSampler::Proposal& proposal = model_.propose(trial, rungs);
    Sample sample{proposal.hparams, proposal.first_rung};
    sample.reason.why = why_of(proposal.choice);
    sample.reason.results = proposal.results;
    if (proposal.choice == Choice::modelled) {
      if (proposal.expects) {
        sample.reason.expected = expected_of(proposal, goal_);
      } else {
        sample.reason.detail = "no result is a number";
      }
    } else if (proposal.choice == Choice::given_up) {
      sample.reason.detail = "the model found no new configuration";
    }
    return sample;
  }

  void on_prior(const Value& hparams, std::span<const Earlier> results) override {
    model_.hear_prior(hparams, results);
  }

  [[nodiscard]] std::optional<engine::Learnt> learnt() const override { return model_.learnt(goal_); }

  void on_created(TrialNumber /*trial*/, const Value& hparams, Units target) override {
    model_.hear_training(hparams, target);
  }
  void on_promoted(TrialNumber trial, Units target) override { model_.hear_training(trial, target); }
  void on_validated(TrialNumber trial, Units length, Score score) override {
    model_.hear_result(trial, length, score);
  }
  void on_exited(TrialNumber trial, engine::ExitReason reason) override { model_.hear_ended(trial, reason); }
  void on_retried(TrialNumber trial, Units target) override {
    model_.hear_training(trial, target);  // The failure stays one observation of many.
  }
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
