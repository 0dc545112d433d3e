#include "hpsearch/searchers/asha.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "searchers/settings.hpp"

namespace hpsearch::searchers {
namespace {

using engine::ExitReason;
using engine::PromoteTrial;
using engine::Reason;
using engine::Score;
using engine::TrialNumber;
using engine::Units;
using engine::Verdict;
using Action = engine::Verdict::Action;
using Why = engine::Reason::Why;
using test::score;

constexpr TrialNumber t0{0}, t1{1}, t2{2}, t3{3}, t4{4}, t5{5};

AshaSettings bracket(std::vector<std::uint64_t> lengths, double divisor, std::uint64_t trials) {
  AshaSettings settings;
  for (const std::uint64_t length : lengths) {
    settings.lengths.push_back(Units{length});
  }
  settings.divisor = Divisor(divisor);
  settings.trials = trials;
  return settings;
}

void create(StoppingPolicy& asha, int trials) {
  for (int i = 0; i < trials; ++i) {
    ASSERT_TRUE(std::holds_alternative<NewTrial>(asha.next()));
    asha.on_created(Units{});
  }
}

/// The trial reports, and its verdict is applied, as the engine does.
Verdict report(StoppingPolicy& asha, TrialNumber trial, Score reported) {
  asha.on_validated(trial, reported);
  Verdict verdict = asha.verdict(trial);
  if (verdict.action == Action::train_on) {
    asha.on_promoted(trial);
  } else if (verdict.action == Action::stop) {
    asha.on_closed(trial);
  }
  return verdict;
}
Verdict report(StoppingPolicy& asha, TrialNumber trial, double metric) {
  return report(asha, trial, score(metric));
}

std::optional<TrialNumber> promotes(const StoppingPolicy& asha) {
  const Work work = asha.next();
  const auto* promoted = std::get_if<PromoteTrial>(&work);
  return promoted == nullptr ? std::nullopt : std::optional(promoted->trial);
}

std::vector<TrialNumber> closable(const StoppingPolicy& asha) {
  const std::span<const TrialNumber> named = asha.closable();
  return {named.begin(), named.end()};
}

TEST(RungLengths, AreFractionsOfTheFullLength) {
  EXPECT_EQ(rung_lengths(Units{1000}, Divisor(4), 4),
            (std::vector<Units>{Units{15}, Units{62}, Units{250}, Units{1000}}));
  EXPECT_EQ(rung_lengths(Units{81}, Divisor(3), 5),
            (std::vector<Units>{Units{1}, Units{3}, Units{9}, Units{27}, Units{81}}));
  EXPECT_EQ(rung_lengths(Units{9000}, Divisor(3), 3),
            (std::vector<Units>{Units{1000}, Units{3000}, Units{9000}}));
}

TEST(RungLengths, EqualNeighboursCollapse) {
  EXPECT_EQ(rung_lengths(Units{10}, Divisor(4), 4), (std::vector<Units>{Units{1}, Units{2}, Units{10}}));
  EXPECT_EQ(rung_lengths(Units{1}, Divisor(4), 5), (std::vector<Units>{Units{1}}));
}

// --- promotion type ---

TEST(PromotionAsha, FollowsTheExampleOfTheSpecification) {
  // R=3, L=9000, d=3, N=12, first come first served, metrics 0.01, 0.02, … in trial order.
  PromotionAsha asha(bracket({1000, 3000, 9000}, 3, 12));
  std::vector<std::uint64_t> trained(12, 0);
  std::uint64_t created = 0;
  for (;;) {
    const Work work = asha.next();
    TrialNumber trial;
    if (const auto* wanted = std::get_if<NewTrial>(&work)) {
      trial = TrialNumber(created++);
      trained[trial.number()] = engine::count(wanted->rungs.front());
      asha.on_created(Units{});
    } else if (const auto* promoted = std::get_if<PromoteTrial>(&work)) {
      trial = promoted->trial;
      trained[trial.number()] = engine::count(promoted->length);
      asha.on_promoted(trial);
    } else {
      break;
    }
    for (;;) {
      const Verdict verdict = report(asha, trial, 0.01 * static_cast<double>(trial.number() + 1));
      if (verdict.action != Action::train_on) {
        break;
      }
      trained[trial.number()] = engine::count(verdict.length);
    }
    for (const TrialNumber closed : closable(asha)) {
      asha.on_closed(closed);
    }
  }
  EXPECT_TRUE(std::holds_alternative<Over>(asha.next()));
  EXPECT_EQ(trained, (std::vector<std::uint64_t>{9000, 3000, 3000, 3000, 1000, 1000, 1000, 1000, 1000, 1000,
                                                 1000, 1000}));
  EXPECT_EQ(asha.progress(), 1.0);
}

TEST(PromotionAsha, PromotesTheReporterInPlace) {
  PromotionAsha asha(bracket({1, 2}, 2, 4));
  create(asha, 2);
  EXPECT_EQ(report(asha, t0, 0.5).action, Action::pause);
  const Verdict verdict = report(asha, t1, 0.4);
  EXPECT_EQ(verdict.action, Action::train_on);
  EXPECT_EQ(verdict.length, Units{2});
}

TEST(PromotionAsha, TheEarlierOfEqualMetricsIsPromoted) {
  PromotionAsha asha(bracket({1, 2}, 2, 4));
  create(asha, 2);
  report(asha, t0, 0.5);
  EXPECT_EQ(report(asha, t1, 0.5).action, Action::pause);
  EXPECT_EQ(promotes(asha), t0);
}

TEST(PromotionAsha, TheHighestRungGoesFirst) {
  PromotionAsha asha(bracket({1, 2, 4}, 2, 20));
  create(asha, 6);
  report(asha, t0, 0.1);
  report(asha, t1, 0.2);
  asha.on_promoted(t0);
  EXPECT_EQ(report(asha, t0, 0.5).action, Action::pause);
  report(asha, t2, 0.3);
  report(asha, t3, 0.4);
  asha.on_promoted(t1);
  EXPECT_EQ(report(asha, t1, 0.6).action, Action::pause);  // Now trial 0 is the best of two in rung 1,
  report(asha, t4, 0.5);
  report(asha, t5, 0.6);  // and trial 2 the third of six in rung 0.
  EXPECT_EQ(promotes(asha), t0);
  asha.on_promoted(t0);
  EXPECT_EQ(promotes(asha), t2);
}

TEST(PromotionAsha, TellsItsReasonsInNumbers) {
  AshaSettings settings = bracket({1, 2}, 2, 9);
  settings.goal = engine::Goal::maximize;
  PromotionAsha asha(std::move(settings));
  create(asha, 4);
  const auto accuracy = [](double metric) { return Score::from_metric(metric, engine::Goal::maximize); };
  const Verdict first = report(asha, t0, accuracy(0.7));
  EXPECT_EQ(first.reason.why, Why::waits_at_rung);
  EXPECT_EQ(first.reason.rung, 0U);
  EXPECT_EQ(first.reason.at, Units{1});
  EXPECT_EQ(first.reason.rank, 0U);
  EXPECT_EQ(first.reason.size, 1U);
  EXPECT_EQ(first.reason.keep, 0U);
  EXPECT_EQ(first.reason.cutoff, std::nullopt);
  const Verdict second = report(asha, t1, accuracy(0.9));
  EXPECT_EQ(second.reason.why, Why::promoted);
  EXPECT_EQ(second.reason.rank, 0U);
  EXPECT_EQ(second.reason.size, 2U);
  EXPECT_EQ(second.reason.keep, 1U);
  EXPECT_EQ(second.reason.cutoff, 0.9);
  const Verdict third = report(asha, t2, accuracy(0.8));
  EXPECT_EQ(third.reason.rank, 1U);
  EXPECT_EQ(third.reason.cutoff, 0.9);
}

TEST(PromotionAsha, AMissingMetricRanksAsWorstAndIsNoCutoff) {
  PromotionAsha asha(bracket({1, 2}, 2, 4));
  create(asha, 2);
  report(asha, t0, Score::worst());
  const Verdict verdict = report(asha, t1, Score::worst());
  EXPECT_EQ(verdict.reason.rank, 1U);
  EXPECT_EQ(verdict.reason.keep, 1U);
  EXPECT_EQ(verdict.reason.cutoff, std::nullopt);
  EXPECT_EQ(promotes(asha), t0);  // Alive, and the best there is.
}

TEST(PromotionAsha, NoTrialIsClosedWhileTrialsAreToCome) {
  PromotionAsha asha(bracket({1, 2}, 4, 3));
  create(asha, 2);
  report(asha, t0, 0.1);
  report(asha, t1, 0.2);
  EXPECT_TRUE(closable(asha).empty());
}

TEST(PromotionAsha, ClosesRungsFromTheLowestUp) {
  PromotionAsha asha(bracket({1, 2, 4}, 2, 4));
  create(asha, 4);
  report(asha, t0, 0.4);
  EXPECT_EQ(report(asha, t1, 0.1).action, Action::train_on);
  report(asha, t2, 0.3);
  EXPECT_TRUE(closable(asha).empty());
  // The last one of rung 0 settles who stays there, though others still train above.
  EXPECT_EQ(report(asha, t3, 0.2).action, Action::train_on);
  EXPECT_EQ(closable(asha), (std::vector{t0, t2}));
  EXPECT_EQ(asha.standing(t2).why, Why::rung_closed);
  EXPECT_EQ(asha.standing(t2).rank, 2U);
  asha.on_closed(t0);
  asha.on_closed(t2);
  EXPECT_EQ(report(asha, t1, 0.1).action, Action::pause);
  EXPECT_TRUE(closable(asha).empty());  // Trial 3 may still come to rung 1.
  const Verdict last = report(asha, t3, 0.2);
  EXPECT_EQ(last.action, Action::stop);
  EXPECT_EQ(last.reason.why, Why::rung_closed);
  EXPECT_TRUE(closable(asha).empty());  // Trial 1 is promotable now.
  asha.on_promoted(t1);
  EXPECT_EQ(report(asha, t1, 0.1).reason.why, Why::max_length);
  EXPECT_TRUE(std::holds_alternative<Over>(asha.next()));
}

TEST(PromotionAsha, SparesWhoIsPromotableButWaitsForASlot) {
  PromotionAsha asha(bracket({1, 2}, 2, 4));
  create(asha, 4);
  report(asha, t0, 0.1);
  report(asha, t1, 0.2);  // Trial 0 is promotable from here on.
  report(asha, t2, 0.3);
  EXPECT_EQ(report(asha, t3, 0.4).action, Action::stop);
  EXPECT_EQ(closable(asha), (std::vector{t2}));
  EXPECT_EQ(promotes(asha), t0);
  asha.on_promoted(t0);
  EXPECT_EQ(promotes(asha), t1);
}

TEST(PromotionAsha, OneRungMeansFullTrainingForAll) {
  PromotionAsha asha(bracket({7}, 4, 2));
  create(asha, 2);
  const Verdict verdict = report(asha, t0, 0.1);
  EXPECT_EQ(verdict.action, Action::stop);
  EXPECT_EQ(verdict.reason.why, Why::max_length);
  report(asha, t1, 0.1);
  EXPECT_TRUE(std::holds_alternative<Over>(asha.next()));
}

TEST(PromotionAsha, ATrialThatEndedEarlyCountsAsWorst) {
  for (const ExitReason exit : {ExitReason::errored, ExitReason::user_canceled, ExitReason::user_stopped}) {
    PromotionAsha asha(bracket({1, 2}, 2, 4));
    create(asha, 2);
    report(asha, t0, 0.5);
    asha.on_exited(t1, exit);
    EXPECT_EQ(promotes(asha), t0) << engine::name_of(exit);  // The best of two.
  }
}

TEST(PromotionAsha, TheDeadArePassedUpAndUseUpThatPromotion) {
  PromotionAsha asha(bracket({1, 2, 4}, 2, 8));
  create(asha, 8);
  asha.on_exited(t0, ExitReason::errored);
  asha.on_exited(t1, ExitReason::errored);  // Trial 0 is the best of two: passed up.
  EXPECT_EQ(report(asha, t2, Score::worst()).action, Action::pause);
  EXPECT_EQ(report(asha, t3, Score::worst()).action,
            Action::pause);  // So is trial 1, now one of the best two.
  EXPECT_EQ(promotes(asha), std::nullopt);
  EXPECT_EQ(report(asha, t4, 0.5).action, Action::train_on);
  const Verdict above = report(asha, t4, 0.5);  // Rung 1 already holds the two dead ones.
  EXPECT_EQ(above.action, Action::train_on);
  EXPECT_EQ(above.reason.rank, 0U);
  EXPECT_EQ(above.reason.size, 3U);
}

TEST(PromotionAsha, AWaitingTrialThatIsCanceledMakesRoom) {
  PromotionAsha asha(bracket({1, 2}, 4, 20));
  create(asha, 5);
  report(asha, t0, 0.1);
  report(asha, t1, 0.2);
  report(asha, t2, 0.3);
  asha.on_exited(t0, ExitReason::user_canceled);
  report(asha, t3, 0.4);
  EXPECT_EQ(promotes(asha), t1);
}

TEST(PromotionAsha, InvalidHyperparametersLeaveEveryRungAndAreReplaced) {
  PromotionAsha asha(bracket({1, 2, 4}, 2, 2));
  create(asha, 2);
  report(asha, t0, 0.5);
  EXPECT_EQ(report(asha, t1, 0.1).action, Action::train_on);
  EXPECT_TRUE(std::holds_alternative<engine::NothingNow>(asha.next()));
  asha.on_exited(t1, ExitReason::invalid_hp);
  const Work work = asha.next();
  ASSERT_TRUE(std::holds_alternative<NewTrial>(work));
  EXPECT_EQ(std::get<NewTrial>(work).reason.why, Why::replacement);
  asha.on_created(Units{});
  const Verdict verdict = report(asha, t2, 0.7);
  EXPECT_EQ(verdict.reason.size, 2U);  // Trial 1 left; trial 0 was closed, but its result counts.
}

TEST(PromotionAsha, PromotionsAreNotTakenBack) {
  PromotionAsha asha(bracket({1, 2}, 2, 8));
  create(asha, 3);
  report(asha, t0, 0.5);
  EXPECT_EQ(report(asha, t1, 0.4).action, Action::train_on);
  asha.on_exited(t0, ExitReason::invalid_hp);
  EXPECT_EQ(asha.outstanding(), 2U);  // Trial 1 alone would not have been among the best half of one.
  EXPECT_EQ(report(asha, t1, 0.4).reason.why, Why::max_length);
}

TEST(PromotionAsha, LateOrRepeatedReportsChangeNothing) {
  PromotionAsha asha(bracket({1, 2}, 2, 8));
  create(asha, 2);
  report(asha, t0, 0.5);
  const Reason before = asha.standing(t0);
  asha.on_validated(t0, score(0.1));
  EXPECT_EQ(asha.standing(t0), before);
  EXPECT_EQ(asha.outstanding(), 1U);
}

TEST(PromotionAsha, MakesDoWhenNoMoreTrialsCanBe) {
  PromotionAsha asha(bracket({1, 2}, 2, 8));
  create(asha, 2);
  report(asha, t0, 0.5);
  report(asha, t1, 0.6);
  EXPECT_TRUE(closable(asha).empty());
  asha.on_no_more_trials();
  EXPECT_EQ(closable(asha), (std::vector{t1}));
  asha.on_closed(t1);
  asha.on_promoted(t0);
  report(asha, t0, 0.5);
  EXPECT_TRUE(std::holds_alternative<Over>(asha.next()));
  EXPECT_EQ(asha.progress(), 1.0);
}

TEST(PromotionAsha, ProgressCountsReportsAtRungZeroThenClosedTrials) {
  PromotionAsha asha(bracket({1, 2}, 2, 4));
  create(asha, 4);
  report(asha, t0, 0.4);
  EXPECT_DOUBLE_EQ(asha.progress(), 1 / (1.2 * 4));
  report(asha, t1, 0.3);
  report(asha, t2, 0.2);
  EXPECT_DOUBLE_EQ(asha.progress(), 3 / (1.2 * 4));
  report(asha, t3, 0.1);
  EXPECT_DOUBLE_EQ(asha.progress(), 4 / (1.2 * 4));
  asha.on_closed(t0);
  EXPECT_LT(asha.progress(), 1.0);
}

// --- stopping type ---

TEST(StoppingAsha, TheFirstReporterGoesOn) {
  StoppingAsha asha(bracket({1, 4}, 4, 8));
  create(asha, 2);
  const Verdict first = report(asha, t0, 0.5);
  EXPECT_EQ(first.action, Action::train_on);
  EXPECT_EQ(first.reason.rank, 0U);
  EXPECT_EQ(first.reason.keep, 1U);
  EXPECT_EQ(first.reason.cutoff, 0.5);
  const Verdict second = report(asha, t1, 0.6);
  EXPECT_EQ(second.action, Action::stop);
  EXPECT_EQ(second.reason.why, Why::below_cutoff);
  EXPECT_EQ(second.reason.rank, 1U);
  EXPECT_EQ(second.reason.size, 2U);
}

TEST(StoppingAsha, ANewcomerStandsAheadOfItsEquals) {
  StoppingAsha asha(bracket({1, 4}, 4, 8));
  create(asha, 5);
  for (const TrialNumber trial : {t0, t1, t2, t3, t4}) {
    EXPECT_EQ(report(asha, trial, 0.5).action, Action::train_on);
  }
}

TEST(StoppingAsha, CountsItselfInItsRung) {
  StoppingAsha asha(bracket({1, 4}, 2, 8));
  create(asha, 4);
  report(asha, t0, 0.1);
  report(asha, t1, 0.2);
  report(asha, t2, 0.3);
  const Verdict fourth = report(asha, t3, 0.15);  // (3+1)/2 = 2 go on, and one is better.
  EXPECT_EQ(fourth.action, Action::train_on);
  EXPECT_EQ(fourth.reason.rank, 1U);
  EXPECT_EQ(fourth.reason.keep, 2U);
  EXPECT_EQ(fourth.reason.cutoff, 0.15);
}

TEST(StoppingAsha, NothingIsPausedResumedOrClosable) {
  StoppingAsha asha(bracket({1, 2, 4}, 2, 4));
  create(asha, 4);
  for (const TrialNumber trial : {t0, t1, t2, t3}) {
    EXPECT_NE(report(asha, trial, 0.1 * static_cast<double>(trial.number())).action, Action::pause);
    EXPECT_TRUE(closable(asha).empty());
    EXPECT_EQ(promotes(asha), std::nullopt);
  }
}

TEST(StoppingAsha, AnEarlyExitIsTheWorstOfItsRung) {
  StoppingAsha asha(bracket({1, 4}, 2, 8));
  create(asha, 2);
  asha.on_exited(t0, ExitReason::errored);
  const Verdict verdict = report(asha, t1, 0.9);
  EXPECT_EQ(verdict.action, Action::train_on);
  EXPECT_EQ(verdict.reason.size, 2U);
}

TEST(StoppingAsha, TheDecisionStandsWhateverIsReportedLater) {
  StoppingAsha asha(bracket({1, 4}, 2, 8));
  create(asha, 2);
  asha.on_validated(t0, score(0.5));
  asha.on_validated(t1, score(0.1));
  EXPECT_EQ(asha.verdict(t0).action, Action::train_on);
  EXPECT_EQ(asha.verdict(t0).reason.size, 1U);  // As it was when it was decided.
}

}  // namespace
}  // namespace hpsearch::searchers
