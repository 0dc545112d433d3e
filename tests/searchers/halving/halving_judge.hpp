#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "contract/configurations.hpp"
#include "contract/judge.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "searchers/halving/plain_asha.hpp"

namespace hpsearch::searchers::test {

/// Recomputes rank, size, keep and cut-off of every reason of a halving search by the plain rules, from what
/// the searcher got alone. Which brackets there are it takes from the preview.
class HalvingJudge final : public contract::Judge {
 public:
  HalvingJudge(const engine::ExperimentConfig& config, const engine::Preview& preview)
      : goal_(config.searcher.goal()) {
    for (const engine::BracketPreview& bracket : preview.brackets) {
      lengths_.push_back(bracket.lengths);
      brackets_.emplace_back(bracket.lengths.size(), config.searcher.divisor,
                             static_cast<std::size_t>(bracket.trials), config.searcher.stop_once);
    }
    space_ = contract::configurations_in(config.space);
    max_trials_ = config.searcher.max_trials;
    if (config.searcher.on_duplicate == engine::OnDuplicate::reject) {
      supply_ = unused_ = space_;
    }
  }

  void on_event(const engine::SearchEvent& event, std::uint64_t bracket) override {
    if (const auto* created = std::get_if<engine::TrialWasCreated>(&event)) {
      members_.emplace_back(bracket, brackets_.at(bracket).trials.size());
      const std::vector<engine::Units>& lengths = lengths_[bracket];
      const auto first = std::find(lengths.begin(), lengths.end(), created->length);
      ASSERT_NE(first, lengths.end()) << "a trial begins at a rung";
      brackets_[bracket].create(static_cast<std::size_t>(first - lengths.begin()));
      if (unused_) {
        --*unused_;
        note_exhaustion();
      }
    } else if (const auto* promoted = std::get_if<engine::TrialWasPromoted>(&event)) {
      of(promoted->trial).promote(number(promoted->trial));
    } else if (const auto* validated = std::get_if<engine::TrialValidated>(&event)) {
      // Worst is infinity to both sides.
      const double metric = validated->score.metric(engine::Goal::minimize).value_or(worst);
      of(validated->trial).report(number(validated->trial), metric);
    } else if (const auto* exited = std::get_if<engine::TrialExited>(&event)) {
      of(exited->trial).exit(number(exited->trial), exited->reason == engine::ExitReason::invalid_hp);
    } else if (const auto* closed = std::get_if<engine::TrialWasClosed>(&event)) {
      of(closed->trial).close(number(closed->trial));
    } else if (const auto* changed = std::get_if<engine::MaxTrialsChanged>(&event)) {
      max_trials_ = changed->max_trials;
      want();
    } else if (const auto* duplicates = std::get_if<engine::DuplicatesChanged>(&event)) {
      std::set<std::string> started;
      for (const engine::Value& configuration : duplicates->started) {
        started.insert(engine::compact_json(configuration));
      }
      supply_ = unused_ = duplicates->reject ? space_ : std::nullopt;
      if (unused_) {
        *unused_ -= started.size();
        supply_ = *unused_ + brackets_.front().counting();
      }
      brackets_.front().more();
      want();
      note_exhaustion();
    }
  }

  void expect(engine::TrialNumber trial, const engine::Reason& reason) const override {
    ASSERT_TRUE(reason.rung && reason.rank && reason.size) << "a rung's decision names place and size";
    if (looks_on_) {
      return;
    }
    std::optional<double> cutoff;
    if (reason.cutoff) {
      cutoff = engine::Score::from_metric(*reason.cutoff, goal_).metric(engine::Goal::minimize);
    }
    const auto& [bracket, number] = members_.at(trial.number());
    EXPECT_EQ(numbers(*reason.rung, *reason.rank, *reason.size, reason.keep.value_or(0), cutoff),
              brackets_[bracket].numbers_of(number));
  }

 private:
  void want() {
    // How brackets share anew is no rule of halving: then it only looks on.
    looks_on_ = looks_on_ || brackets_.size() > 1;
    const auto wanted = std::min<engine::Cardinality>(max_trials_, supply_.value_or(max_trials_));
    brackets_.front().want(static_cast<std::size_t>(wanted));
  }

  void note_exhaustion() {
    if (unused_ == engine::Cardinality{0}) {
      for (PlainAsha& each : brackets_) {
        each.no_more();
      }
    }
  }

  PlainAsha& of(engine::TrialNumber trial) { return brackets_[members_.at(trial.number()).first]; }
  [[nodiscard]] std::size_t number(engine::TrialNumber trial) const {
    return members_.at(trial.number()).second;
  }

  engine::Goal goal_;
  bool looks_on_ = false;
  std::vector<PlainAsha> brackets_;
  std::vector<std::vector<engine::Units>> lengths_;  // The lengths of their rungs.
  std::uint64_t max_trials_ = 0;
  std::optional<engine::Cardinality> space_;   // Configurations, if they can be counted.
  std::optional<engine::Cardinality> unused_;  // Where none may start twice: of these, not started.
  std::optional<engine::Cardinality> supply_;  // And so many trials can count.
  std::vector<std::pair<std::uint64_t, std::size_t>> members_;  // Bracket, and number in it.
};

[[nodiscard]] inline std::unique_ptr<contract::Judge> make_halving_judge(
    const engine::SearcherKind& kind, const engine::ExperimentConfig& config) {
  return std::make_unique<HalvingJudge>(config, kind.preview(config));
}

}  // namespace hpsearch::searchers::test
