#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/searchers/adaptive_asha.hpp"
#include "hpsearch/searchers/async_halving.hpp"
#include "hpsearch/searchers/sampler.hpp"

namespace hpsearch::searchers::test {

/// Random draws that begin at any rung. What it hears decides where, so that two that heard something else
/// are found out; and it complains of what no sampler should hear.
class LateStarts final : public Sampler {
 public:
  explicit LateStarts(const engine::ExperimentConfig& config)
      : space_(config.space), seed_(config.experiment_seed) {}

  [[nodiscard]] Sample sample(engine::TrialNumber trial, std::span<const engine::Units> rungs,
                              const Taken& /*taken*/) const override {
    EXPECT_EQ(trial.number(), trials_.size());
    EXPECT_TRUE(std::is_sorted(rungs.begin(), rungs.end()));
    engine::Draw draw(seed_, trial, "first rung of " + std::to_string(heard_));
    Sample sample{space_.sample(seed_, trial)};
    sample.first_rung = static_cast<std::uint32_t>(draw.below(rungs.size() + 1));  // One past the last, too.
    return sample;
  }

  void on_created(engine::TrialNumber trial, const engine::Value& /*hparams*/,
                  engine::Units target) override {
    ++heard_;
    EXPECT_EQ(trial.number(), trials_.size());
    trials_.push_back({target, engine::Units{}, true});
  }
  void on_promoted(engine::TrialNumber trial, engine::Units target) override {
    ++heard_;
    Trial& promoted = trials_.at(trial.number());
    EXPECT_FALSE(promoted.trains);
    EXPECT_GT(target, promoted.reached);
    promoted = {target, promoted.reached, true};
  }
  void on_validated(engine::TrialNumber trial, engine::Units length, engine::Score /*score*/) override {
    ++heard_;
    Trial& validated = trials_.at(trial.number());
    EXPECT_TRUE(validated.trains);
    EXPECT_EQ(length, validated.target);
    validated.reached = length;
    validated.trains = false;
  }
  void on_exited(engine::TrialNumber trial, engine::ExitReason /*reason*/) override { end(trial); }
  void on_closed(engine::TrialNumber trial) override { end(trial); }

 private:
  struct Trial {
    engine::Units target{};
    engine::Units reached{};
    bool trains = false;
  };

  void end(engine::TrialNumber trial) {
    ++heard_;
    EXPECT_TRUE(ended_.insert(trial).second) << "a trial ends once";
    trials_.at(trial.number()).trains = false;
  }

  engine::Space space_;
  std::uint64_t seed_;
  std::uint64_t heard_ = 0;
  std::vector<Trial> trials_;
  std::set<engine::TrialNumber> ended_;
};

[[nodiscard]] inline engine::SearcherKind late_async_halving() {
  engine::SearcherKind kind = async_halving_kind();
  kind.make = [](const engine::ExperimentConfig& config) {
    return make_async_halving(config, std::make_unique<LateStarts>(config));
  };
  return kind;
}

[[nodiscard]] inline engine::SearcherKind late_adaptive_asha() {
  engine::SearcherKind kind = adaptive_asha_kind();
  kind.make = [](const engine::ExperimentConfig& config) {
    return make_adaptive_asha(config, std::make_unique<LateStarts>(config));
  };
  return kind;
}

}  // namespace hpsearch::searchers::test
