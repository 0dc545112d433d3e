#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "messages.hpp"
#include "settings.hpp"

// Finalists of a search are trained again with other seeds (searcher.repeats).

namespace hpsearch::searchers {
namespace {

using engine::CreateTrial;
using engine::ExitReason;
using engine::Finalist;
using engine::Finished;
using engine::Next;
using engine::NothingNow;
using engine::Reason;
using engine::TrialNumber;
using test::ExperimentConfig;
using test::score;
using test::settings;
using test::Units;
using test::Value;

ExperimentConfig repeated(std::string searcher, std::uint64_t trials, std::uint64_t repeats,
                          std::uint64_t finalists) {
  ExperimentConfig config = settings(std::move(searcher), 9, trials);
  config.searcher.repeats = repeats;
  config.searcher.finalists = finalists;
  return config;
}

/// A search of one slot. Metrics are numbers by trial; what has none fails.
class OneSlotSearch {
 public:
  explicit OneSlotSearch(const ExperimentConfig& config) : search_(test::kind_of(config).make(config)) {}

  engine::Searcher& search() { return *search_; }
  const std::vector<CreateTrial>& created() const { return created_; }
  const std::vector<engine::SearchEvent>& events() const { return events_; }

  /// Until nothing is wanted.
  void run(const std::map<std::uint64_t, double>& metrics) {
    while (begin()) {
      finish(metrics);
    }
  }
  bool begin() {
    Next next = search_->next();
    auto* create = std::get_if<CreateTrial>(&next);
    if (create == nullptr) {
      return false;
    }
    EXPECT_EQ(create->trial.number(), created_.size());
    created_.push_back(*create);
    tell(engine::TrialWasCreated{create->trial, create->hparams, create->length});
    return true;
  }
  /// The last that began.
  void finish(const std::map<std::uint64_t, double>& metrics) {
    const TrialNumber trial = created_.back().trial;
    const auto metric = metrics.find(trial.number());
    if (metric == metrics.end()) {
      tell(engine::TrialExited{trial, ExitReason::errored});
      return;
    }
    tell(engine::TrialValidated{trial, created_.back().length, score(metric->second)});
    EXPECT_EQ(search_->verdict(trial).action, engine::Verdict::Action::stop);
    tell(engine::TrialWasClosed{trial});
  }
  void tell(const engine::SearchEvent& event) {
    events_.push_back(event);
    search_->on_event(event);
  }
  /// "repeat 2 of 3 of trial 1", of those created since trial `first`.
  std::vector<std::string> repeats(std::size_t first) const {
    std::vector<std::string> texts;
    for (std::size_t i = first; i < created_.size(); ++i) {
      const Reason& reason = created_[i].reason;
      EXPECT_EQ(reason.why, Reason::Why::repeat);
      texts.push_back(reason.detail + " of " + std::to_string(reason.near.value_or(99)));
    }
    return texts;
  }

 private:
  std::unique_ptr<engine::Searcher> search_;
  std::vector<CreateTrial> created_;
  std::vector<engine::SearchEvent> events_;
};

using Texts = std::vector<std::string>;

TEST(Repeats, TheBestConfigurationsAreTrainedAgainAtTheEnd) {
  OneSlotSearch run(repeated("random", 4, 3, 2));
  run.run({{0, 0.5}, {1, 0.2}, {2, 0.9}, {3, 0.3}, {4, 0.6}, {5, 0.3}, {6, 0.4}, {7, 0.3}});
  ASSERT_EQ(run.created().size(), 8U);
  // Each has its second training before one has its third.
  EXPECT_EQ(run.repeats(4), (Texts{"2 of 3 of 1", "2 of 3 of 3", "3 of 3 of 1", "3 of 3 of 3"}));
  EXPECT_EQ(run.created()[4].hparams, run.created()[1].hparams);
  EXPECT_EQ(run.created()[7].hparams, run.created()[3].hparams);
  EXPECT_EQ(run.created()[7].length, Units{9});
  EXPECT_TRUE(std::holds_alternative<Finished>(run.search().next()));
  EXPECT_EQ(run.search().progress(), 1.0);

  // The mean decides, not the best single training.
  const std::vector<Finalist> finalists = run.search().finalists();
  ASSERT_EQ(finalists.size(), 2U);
  EXPECT_EQ(finalists[0].trainings.front().trial, TrialNumber(3));
  EXPECT_DOUBLE_EQ(*finalists[0].mean, 0.3);
  EXPECT_NEAR(*finalists[0].deviation, 0, 1e-12);
  EXPECT_DOUBLE_EQ(*finalists[1].mean, 0.4);
  EXPECT_DOUBLE_EQ(*finalists[1].deviation, 0.2);
  EXPECT_EQ(finalists[1].best(engine::Goal::minimize)->trial, TrialNumber(1));
}

TEST(Repeats, ThereAreNoneBeforeTheSearchIsOverAndNoneUnlessAsked) {
  OneSlotSearch run(repeated("random", 2, 2, 5));
  ASSERT_TRUE(run.begin());
  run.finish({{0, 0.5}});
  EXPECT_TRUE(run.search().finalists().empty());
  ASSERT_TRUE(run.begin());
  EXPECT_TRUE(std::holds_alternative<NothingNow>(run.search().next()));
  run.finish({{1, 0.4}});
  EXPECT_EQ(run.search().finalists().size(), 2U);
  EXPECT_LT(run.search().progress(), 1.0);

  OneSlotSearch plain(repeated("random", 2, 1, 5));
  plain.run({{0, 0.5}, {1, 0.4}});
  EXPECT_EQ(plain.created().size(), 2U);
  EXPECT_TRUE(plain.search().finalists().empty());
}

TEST(Repeats, AFailedRepeatIsNotReplaced) {
  OneSlotSearch run(repeated("random", 2, 3, 1));
  run.run({{0, 0.5}, {1, 0.7}, {3, 0.1}});
  EXPECT_EQ(run.repeats(2), (Texts{"2 of 3 of 0", "3 of 3 of 0"}));
  const std::vector<Finalist> finalists = run.search().finalists();
  ASSERT_EQ(finalists.size(), 1U);
  EXPECT_DOUBLE_EQ(*finalists[0].mean, 0.3);
  EXPECT_EQ(finalists[0].trainings.size(), 3U);
  EXPECT_FALSE(finalists[0].trainings[1].metric);
}

TEST(Repeats, OnlyTrialsAtFullLengthAreFinalists) {
  ExperimentConfig config = repeated("async_halving", 9, 2, 5);
  config.searcher.num_rungs = 3;
  config.searcher.divisor = 3;
  OneSlotSearch run(config);
  std::uint64_t at_full_length = 0;
  for (int turn = 0; turn < 100; ++turn) {
    const Next next = run.search().next();
    if (const auto* promote = std::get_if<engine::PromoteTrial>(&next)) {
      run.tell(engine::TrialWasPromoted{promote->trial, promote->length});
      run.tell(engine::TrialValidated{promote->trial, promote->length, score(0.1)});
    } else if (run.begin()) {
      run.tell(engine::TrialValidated{run.created().back().trial, run.created().back().length, score(0.1)});
      at_full_length += run.created().back().length == Units{9} ? 1U : 0U;
    } else {
      break;
    }
    const TrialNumber trial = std::holds_alternative<engine::PromoteTrial>(next)
                                  ? std::get<engine::PromoteTrial>(next).trial
                                  : run.created().back().trial;
    while (run.search().verdict(trial).action == engine::Verdict::Action::train_on) {
      const Units length = run.search().verdict(trial).length;
      run.tell(engine::TrialWasPromoted{trial, length});
      run.tell(engine::TrialValidated{trial, length, score(0.1)});
    }
    if (run.search().verdict(trial).action == engine::Verdict::Action::stop) {
      run.tell(engine::TrialWasClosed{trial});
    }
    while (!run.search().closable().empty()) {
      run.tell(engine::TrialWasClosed{run.search().closable().front()});
    }
  }
  EXPECT_TRUE(std::holds_alternative<Finished>(run.search().next()));
  EXPECT_EQ(run.repeats(9), (Texts{"2 of 2 of 0"}));
  EXPECT_EQ(at_full_length, 1U);  // The repeat; the search promoted one.
}

TEST(Repeats, TrialsOfOneConfigurationCountTogether) {
  ExperimentConfig config = repeated("random", 3, 3, 1);
  config.space = test::space_of({{"act", "relu"}});
  OneSlotSearch run(config);
  run.run({{0, 0.1}, {1, 0.2}, {2, 0.3}});
  EXPECT_EQ(run.created().size(), 3U);  // It has its three trainings.
  EXPECT_DOUBLE_EQ(*run.search().finalists().front().mean, 0.2);
}

TEST(Repeats, DuplicatesMayBeRejectedAllTheSame) {
  ExperimentConfig config = repeated("random", 20, 2, 1);
  config.space = test::space_of({{"act", test::categorical({"relu", "gelu"})}});
  config.searcher.on_duplicate = engine::OnDuplicate::reject;
  OneSlotSearch run(config);
  run.run({{0, 0.1}, {1, 0.2}, {2, 0.3}});
  EXPECT_EQ(run.repeats(2), (Texts{"2 of 2 of 0"}));
  EXPECT_MESSAGE(std::get<Finished>(run.search().next()).note);
}

TEST(Repeats, ASearchThatGetsMoreTrialsGoesOnWhereItWas) {
  OneSlotSearch straight(repeated("random", 5, 2, 1));
  straight.run({{0, 0.5}, {1, 0.2}, {2, 0.9}, {3, 0.1}, {4, 0.4}, {5, 0.1}});

  OneSlotSearch run(repeated("random", 3, 2, 1));
  run.run({{0, 0.5}, {1, 0.2}, {2, 0.9}, {3, 0.3}});
  EXPECT_EQ(run.repeats(3), (Texts{"2 of 2 of 1"}));
  run.tell(engine::MaxTrialsChanged{5});
  EXPECT_TRUE(run.search().finalists().empty());
  run.run({{4, 0.1}, {5, 0.4}, {6, 0.1}});
  ASSERT_EQ(run.created().size(), 7U);
  EXPECT_EQ(run.created()[4].hparams, straight.created()[3].hparams);
  EXPECT_EQ(run.created()[5].hparams, straight.created()[4].hparams);
  EXPECT_EQ(run.repeats(6), (Texts{"2 of 2 of 4"}));  // Another finalist.
  EXPECT_TRUE(std::holds_alternative<Finished>(run.search().next()));

  const std::unique_ptr<engine::Searcher> replayed = [&] {
    const ExperimentConfig config = repeated("random", 3, 2, 1);
    return test::kind_of(config).make(config);
  }();
  for (const engine::SearchEvent& event : run.events()) {
    replayed->on_event(event);
  }
  EXPECT_TRUE(std::holds_alternative<Finished>(replayed->next()));
  EXPECT_EQ(replayed->finalists().front().mean, run.search().finalists().front().mean);
}

TEST(Repeats, MoreTrialsWhileARepeatRunsChangeNothingAboutIt) {
  OneSlotSearch run(repeated("random", 2, 2, 1));
  run.run({{0, 0.5}, {1, 0.2}});
  OneSlotSearch other(repeated("random", 2, 2, 1));
  for (int trial = 0; trial < 2; ++trial) {
    ASSERT_TRUE(other.begin());
    other.finish({{0, 0.5}, {1, 0.2}});
  }
  ASSERT_TRUE(other.begin());
  other.tell(engine::MaxTrialsChanged{3});
  const Next next = other.search().next();
  ASSERT_TRUE(std::holds_alternative<CreateTrial>(next));
  EXPECT_EQ(std::get<CreateTrial>(next).trial, TrialNumber(3));
  EXPECT_EQ(std::get<CreateTrial>(next).reason.why, Reason::Why::new_trial);
  other.finish({{2, 0.4}});
  other.run({{3, 0.9}});
  EXPECT_EQ(other.created().size(), 4U);
  EXPECT_DOUBLE_EQ(*other.search().finalists().front().mean, 0.3);
}

TEST(Repeats, PointsThatComeDuringThemAreTriedWhenTheSearchGoesOn) {
  OneSlotSearch run(repeated("random", 2, 2, 1));
  for (int trial = 0; trial < 2; ++trial) {
    ASSERT_TRUE(run.begin());
    run.finish({{0, 0.5}, {1, 0.2}});
  }
  run.tell(engine::PointsChanged{{Value::Map{{"lr", 0.25}}}});
  ASSERT_TRUE(run.begin());
  EXPECT_EQ(run.repeats(2), (Texts{"2 of 2 of 1"}));
  run.finish({{2, 0.2}});
  run.tell(engine::MaxTrialsChanged{3});
  ASSERT_TRUE(run.begin());
  EXPECT_EQ(run.created().back().reason.why, Reason::Why::given_point);
  EXPECT_EQ(run.created().back().hparams, Value(Value::Map{{"lr", 0.25}}));
}

TEST(Repeats, ASearchThatGaveUpHasNone) {
  OneSlotSearch run(repeated("random", 1, 3, 1));
  for (int trial = 0; trial < 2; ++trial) {
    ASSERT_TRUE(run.begin());
    run.tell(engine::TrialExited{run.created().back().trial, ExitReason::invalid_hp});
  }
  const Next next = run.search().next();
  ASSERT_TRUE(std::holds_alternative<Finished>(next));
  EXPECT_TRUE(std::get<Finished>(next).problem);
}

TEST(Repeats, HugeMetricsHaveAMeanAndADeviation) {
  OneSlotSearch run(repeated("random", 1, 2, 1));
  run.run({{0, 1e300}, {1, 3e300}});
  const Finalist finalist = run.search().finalists().front();
  EXPECT_DOUBLE_EQ(*finalist.mean, 2e300);
  EXPECT_DOUBLE_EQ(*finalist.deviation, std::sqrt(2.0) * 1e300);
}

TEST(Repeats, ThePreviewCountsThem) {
  ExperimentConfig config = repeated("random", 4, 3, 2);
  const engine::Preview flat = test::kind_of(config).preview(config);
  EXPECT_TRUE(flat.trials == 4U);
  EXPECT_TRUE(flat.repeats == 4U);
  EXPECT_TRUE(flat.total_length == 8U * 9U);
  EXPECT_TRUE(flat.final_counts.at(Units{9}) == 8U);

  config = repeated("async_halving", 9, 3, 5);
  config.searcher.num_rungs = 3;
  config.searcher.divisor = 3;
  const engine::Preview halving = test::kind_of(config).preview(config);
  EXPECT_TRUE(halving.trials == 9U);
  EXPECT_TRUE(halving.repeats == 10U) << "at most: five trials may reach full length";
  const engine::Preview once = [&config] {
    config.searcher.repeats = 1;
    return test::kind_of(config).preview(config);
  }();
  EXPECT_TRUE(halving.expected_length == once.expected_length + 2U * 9U) << "one trial is expected there";
  EXPECT_TRUE(halving.full_length == once.full_length + 10U * 9U);
}

}  // namespace
}  // namespace hpsearch::searchers
