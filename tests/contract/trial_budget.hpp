#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contract/answers.hpp"
#include "contract/configurations.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::contract {

[[nodiscard]] inline bool reads(const engine::SearcherKind& kind, std::string_view field) {
  return std::find(kind.fields.begin(), kind.fields.end(), field) != kind.fields.end();
}

/// Which trials a search may create: how many, with which configurations, and how many as replacements.
/// Complains about every creation that is not allowed.
class TrialBudget {
 public:
  TrialBudget(engine::SearcherKind kind, bool replaces_invalid, const engine::ExperimentConfig& config)
      : kind_(kind),
        replaces_invalid_(replaces_invalid),
        preview_(kind.preview(config)),
        config_(config),
        space_(configurations_in(config.space)),
        replaceable_(config.searcher.max_trials) {
    if (rejects()) {
      supply_ = space_;
    }
    plan();
  }

  /// The settings of now, with the changes of users.
  [[nodiscard]] const engine::ExperimentConfig& config() const noexcept { return config_; }
  [[nodiscard]] bool rejects() const { return config_.searcher.on_duplicate == engine::OnDuplicate::reject; }
  [[nodiscard]] engine::Cardinality planned() const noexcept { return planned_; }
  /// Trials that count: all but those that were or will be replaced, and but repeats.
  [[nodiscard]] std::uint64_t counting() const noexcept { return created_ - repeats_ - not_counting_; }
  [[nodiscard]] bool is_spent() const {
    return counting() >= planned_ || (rejects() && started_everything());
  }
  /// More trials were invalid than may be replaced.
  [[nodiscard]] bool is_exceeded() const noexcept {
    return replaces_invalid_ && not_counting_ > replaceable_;
  }

  void take(const engine::CreateTrial& create) {
    using Why = engine::Reason::Why;
    ASSERT_EQ(create.trial.number(), created_) << "trials are numbered without gaps";
    ++created_;
    EXPECT_GT(engine::count(create.length), 0U);
    EXPECT_LE(create.length, config_.searcher.max_length);
    engine::Problems problems;
    config_.space.check(create.hparams, "hparams", problems);
    EXPECT_TRUE(problems.empty()) << engine::compact_json(create.hparams) << " is not in the space";
    const Why why = create.reason.why;
    hparams_.push_back(create.hparams);
    if (why == Why::repeat) {
      take_repeat(create);
      return;
    }
    EXPECT_TRUE(why == Why::new_trial || why == Why::replacement || why == Why::given_point ||
                why == Why::near_trial || why == Why::before_model || why == Why::explored ||
                why == Why::model_choice)
        << engine::name_of(why);
    expect_forecast(create);
    EXPECT_FALSE(create.reason.rank || create.reason.size || create.reason.keep || create.reason.cutoff)
        << "a new trial has no rank: " << text_of(create.reason);
    const std::vector<engine::Units>& rungs = preview_.brackets.at(create.reason.bracket.value_or(0)).lengths;
    EXPECT_EQ(create.length, rungs.at(create.reason.rung.value_or(0))) << "a trial begins at its first rung";
    const std::vector<engine::Value>& points = config_.searcher.points_to_evaluate;
    const bool given = next_point_ < points.size();
    EXPECT_EQ(why == Why::given_point, given);
    if (given) {
      EXPECT_EQ(create.hparams, points[next_point_++]);
    }
    // A bracket replaces its own.
    std::uint64_t& owed = owed_[create.reason.bracket.value_or(0)];
    if (why == Why::new_trial || why == Why::replacement) {
      EXPECT_EQ(why == Why::replacement, owed > 0)
          << "a replacement for nothing, or an invalid trial that has none";
    }
    if (owed > 0) {
      --owed;
      ++replacements_;
    }
    const bool is_new = started_.insert(engine::compact_json(create.hparams)).second;
    EXPECT_TRUE(is_new || !rejects()) << engine::compact_json(create.hparams) << " is started twice";
    pass_started_points();
  }

  /// As many trainings of as many configurations as were asked for, each at full length. Where a search goes
  /// on after its end, others may become finalists.
  void take_repeat(const engine::CreateTrial& create) {
    ++repeats_;
    ASSERT_TRUE(create.reason.near && *create.reason.near < hparams_.size() - 1) << "a repeat of no trial";
    EXPECT_EQ(create.hparams, hparams_[*create.reason.near]) << "another configuration than that it repeats";
    EXPECT_EQ(create.length, config_.searcher.max_length);
    EXPECT_LT(repeats_of_[*create.reason.near]++, config_.searcher.repeats - 1);
    if (!was_extended_) {
      EXPECT_LE(repeats_of_.size(), config_.searcher.finalists);
    }
  }

  void expect_kept() const {
    EXPECT_LE(counting(), planned_) << "more trials than were asked for";
    EXPECT_LE(replacements_, replaceable_) << "more replacements than trials";
  }

  /// As many trials as were asked for; more only where a user asked for more before.
  void expect_used() const {
    if (was_lowered_) {
      EXPECT_GE(counting(), static_cast<std::uint64_t>(planned_)) << "fewer trials than were asked for";
    } else {
      EXPECT_EQ(counting(), static_cast<std::uint64_t>(planned_))
          << "fewer trials than were asked for, without a reason";
    }
  }

  /// An invalid trial of that bracket ended.
  void lose(std::uint64_t bracket) {
    if (replaces_invalid_) {
      ++not_counting_;
      ++owed_[bracket];
    }
  }

  // Changes by users. False, and nothing changes, where the searcher refuses the setting in an experiment
  // file.

  /// Trials that exist stay, and as many as there are now may be replaced.
  bool set_max_trials(std::uint64_t wanted) {
    const std::uint64_t before = config_.searcher.max_trials;
    if (!set([wanted](engine::SearcherConfig& searcher) { searcher.max_trials = wanted; })) {
      return false;
    }
    was_lowered_ = was_lowered_ || wanted < before;
    was_extended_ = was_extended_ || wanted > before;
    plan();
    replaceable_ = std::max(wanted, not_counting_);
    return true;
  }

  bool set_points(const std::vector<engine::Value>& points) {
    if (!set([&points](engine::SearcherConfig& searcher) { searcher.points_to_evaluate = points; })) {
      return false;
    }
    next_point_ = 0;
    pass_started_points();
    return true;
  }

  bool set_on_duplicate(engine::OnDuplicate wanted) {
    if (!set([wanted](engine::SearcherConfig& searcher) { searcher.on_duplicate = wanted; })) {
      return false;
    }
    supply_ = rejects() ? space_ : std::nullopt;
    if (supply_) {
      supply_ = *supply_ - started_.size() + counting();
    }
    plan();
    pass_started_points();
    return true;
  }

 private:
  /// What a model expected has a spread, and is of earlier trials.
  static void expect_forecast(const engine::CreateTrial& create) {
    const std::optional<engine::ExpectedResult>& expected = create.reason.expected;
    if (!expected) {
      return;
    }
    EXPECT_EQ(create.reason.why, engine::Reason::Why::model_choice);
    EXPECT_FALSE(expected->deviation < 0) << expected->deviation;
    EXPECT_FALSE(expected->correlation && (*expected->correlation < 0 || *expected->correlation > 1))
        << *expected->correlation;
    for (const std::uint64_t trial : expected->nearest) {
      EXPECT_LT(trial, create.trial.number());
    }
  }

  template <class Set>
  bool set(Set set_in) {
    engine::ExperimentConfig wanted = config_;
    set_in(wanted.searcher);
    engine::Problems problems;
    if (kind_.check != nullptr) {
      kind_.check(wanted, problems);
    }
    if (problems.empty()) {
      config_ = std::move(wanted);
    }
    return problems.empty();
  }

  /// max_trials, or the size of the space if that is less. Kinds that don't read max_trials plan by
  /// themselves.
  void plan() {
    planned_ = reads(kind_, "max_trials") ? std::min(engine::Cardinality{config_.searcher.max_trials},
                                                     supply_.value_or(config_.searcher.max_trials))
                                          : preview_.trials;
  }

  /// A space with a real number has no size: the searcher's answer is then believed.
  [[nodiscard]] bool started_everything() const { return !space_ || started_.size() >= *space_; }

  /// Where duplicates are rejected, the next point takes the place of one that was started.
  void pass_started_points() {
    const std::vector<engine::Value>& points = config_.searcher.points_to_evaluate;
    while (rejects() && next_point_ < points.size() &&
           started_.contains(engine::compact_json(points[next_point_]))) {
      ++next_point_;
    }
  }

  engine::SearcherKind kind_;
  bool replaces_invalid_;
  engine::Preview preview_;  // The preview of the experiment as it began.
  engine::ExperimentConfig config_;
  std::optional<engine::Cardinality> space_;  // Configurations, if they can be counted.
  engine::Cardinality planned_ = 0;
  std::optional<engine::Cardinality> supply_;  // Not more trials can count.
  std::size_t next_point_ = 0;                 // The next of the current points.
  std::uint64_t replaceable_;                  // The most trials that may be replaced.
  bool was_lowered_ = false;
  bool was_extended_ = false;
  std::uint64_t created_ = 0;
  std::uint64_t repeats_ = 0;
  std::vector<engine::Value> hparams_;                 // The hyperparameters of all trials.
  std::map<std::uint64_t, std::uint64_t> repeats_of_;  // By the trial that they repeat.
  std::set<std::string> started_;                      // Configurations.
  std::uint64_t not_counting_ = 0;
  std::uint64_t replacements_ = 0;
  std::map<std::uint64_t, std::uint64_t> owed_;  // Replacements, by bracket.
};

}  // namespace hpsearch::contract
