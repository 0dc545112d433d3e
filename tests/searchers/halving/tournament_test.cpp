#include "hpsearch/searchers/tournament.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/searchers/asha.hpp"
#include "hpsearch/searchers/flat.hpp"
#include "searchers/settings.hpp"

namespace hpsearch::searchers {
namespace {

using engine::TrialNumber;
using engine::Units;

/// Brackets of so many trials each, all trained to one length.
std::unique_ptr<Tournament> flat_brackets(const std::vector<std::uint64_t>& trials, std::uint64_t slots) {
  std::vector<BracketPlan> plan;
  for (const std::uint64_t count : trials) {
    plan.push_back({1, count});
  }
  Tournament::Makers makers;
  makers.bracket = [](const BracketPlan& bracket) {
    return std::make_unique<Flat>(bracket.trials, Units{1}, Flat::InvalidTrials::are_replaced);
  };
  makers.shares = [](std::uint64_t all, const std::vector<std::uint64_t>& rungs) {
    std::vector<std::uint64_t> shares(rungs.size(), all / rungs.size());
    shares.front() += all % rungs.size();
    return shares;
  };
  return std::make_unique<Tournament>(plan, std::move(makers), slots);
}

/// Starts the next trial and says in which bracket; nothing when there is none to start.
std::optional<std::uint32_t> start(StoppingPolicy& schedule) {
  const Work work = schedule.next();
  const auto* wanted = std::get_if<NewTrial>(&work);
  if (wanted == nullptr) {
    return std::nullopt;
  }
  schedule.on_created(Units{});
  return wanted->reason.bracket;
}

void finish(StoppingPolicy& schedule, TrialNumber trial) {
  schedule.on_validated(trial, test::score(0));
  schedule.on_closed(trial);
}

std::vector<std::uint32_t> start_all(StoppingPolicy& schedule, int slots) {
  std::vector<std::uint32_t> brackets;
  for (int i = 0; i < slots; ++i) {
    if (const auto bracket = start(schedule)) {
      brackets.push_back(*bracket);
    }
  }
  return brackets;
}

TEST(Tournament, SharesAddUpToTheSlots) {
  EXPECT_EQ(Tournament::share(16, 3, 0), 6U);
  EXPECT_EQ(Tournament::share(16, 3, 1), 5U);
  EXPECT_EQ(Tournament::share(16, 3, 2), 5U);
  EXPECT_EQ(Tournament::share(2, 3, 0), 0U);
  EXPECT_EQ(Tournament::share(0, 3, 0), 0U);
}

TEST(Tournament, FillsTheSharesInOrder) {
  const auto tournament = flat_brackets({9, 9, 9}, 5);
  EXPECT_EQ(start_all(*tournament, 5), (std::vector<std::uint32_t>{0, 0, 1, 1, 2}));
}

TEST(Tournament, AFreedSlotGoesToTheBracketThatLacksIt) {
  const auto tournament = flat_brackets({9, 9}, 4);
  start_all(*tournament, 4);
  finish(*tournament, TrialNumber(3));
  EXPECT_EQ(start(*tournament), 1U);
  finish(*tournament, TrialNumber(0));
  EXPECT_EQ(start(*tournament), 0U);
}

TEST(Tournament, LendsWhatABracketCannotUse) {
  const auto tournament = flat_brackets({1, 9, 9}, 6);
  // Bracket 0 has one trial for its two slots; its other one goes to the first of the least overdrawn.
  EXPECT_EQ(start_all(*tournament, 6), (std::vector<std::uint32_t>{0, 1, 1, 2, 2, 1}));
  EXPECT_EQ(start(*tournament), 2U);  // A seventh slot, should there be one, to the less overdrawn.
}

TEST(Tournament, ALentSlotComesBack) {
  const auto tournament = flat_brackets({1, 9}, 4);
  EXPECT_EQ(start_all(*tournament, 4), (std::vector<std::uint32_t>{0, 1, 1, 1}));
  tournament->on_exited(TrialNumber(0), engine::ExitReason::invalid_hp);  // Bracket 0 wants one more.
  EXPECT_EQ(start(*tournament), 0U);
  finish(*tournament, TrialNumber(1));
  EXPECT_EQ(start(*tournament), 1U);  // Bracket 0 has no work for its second slot.
}

TEST(Tournament, WithMoreBracketsThanSlotsTheyTakeTurns) {
  const auto tournament = flat_brackets({9, 9, 9}, 1);
  std::vector<std::uint32_t> turns;
  for (std::uint64_t trial = 0; trial < 6; ++trial) {
    turns.push_back(start(*tournament).value());
    finish(*tournament, TrialNumber(trial));
  }
  EXPECT_EQ(turns, (std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2}));
}

TEST(Tournament, WithoutAFixedNumberOfSlotsTheyTakeTurns) {
  const auto tournament = flat_brackets({9, 2, 9}, 0);
  EXPECT_EQ(start_all(*tournament, 8), (std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2, 0, 2}));
}

TEST(Tournament, SharesFollowAnotherNumberOfSlots) {
  const auto tournament = flat_brackets({9, 9}, 2);
  EXPECT_EQ(start_all(*tournament, 2), (std::vector<std::uint32_t>{0, 1}));
  tournament->on_max_concurrent_trials(6);
  EXPECT_EQ(start_all(*tournament, 4), (std::vector<std::uint32_t>{0, 0, 1, 1}));
  tournament->on_max_concurrent_trials(3);
  for (std::uint64_t trial = 0; trial < 4; ++trial) {  // One of bracket 0 is left, and one of bracket 1.
    finish(*tournament, TrialNumber(trial));
  }
  EXPECT_EQ(start(*tournament), 0U);
  tournament->on_max_concurrent_trials(0);
  EXPECT_EQ(start(*tournament), 1U) << "they take turns, and bracket 0 has had one more";
}

TEST(Tournament, TrainingOnInPlaceIsNoTurn) {
  Tournament::Makers makers;
  makers.bracket = [](const BracketPlan& bracket) {
    AshaSettings settings;
    settings.lengths = {Units{1}, Units{2}};
    settings.divisor = Divisor(2);
    settings.trials = bracket.trials;
    return std::make_unique<StoppingAsha>(settings);
  };
  Tournament tournament({{2, 8}, {2, 8}}, std::move(makers), 1);
  EXPECT_EQ(start(tournament), 0U);
  tournament.on_validated(TrialNumber(0), test::score(0.5));
  ASSERT_EQ(tournament.verdict(TrialNumber(0)).action, engine::Verdict::Action::train_on);
  tournament.on_promoted(TrialNumber(0));
  finish(tournament, TrialNumber(0));
  EXPECT_EQ(start(tournament), 1U);
  finish(tournament, TrialNumber(1));
  EXPECT_EQ(start(tournament), 0U);
}

TEST(Tournament, NamesTheBracketInEveryReason) {
  const auto tournament = flat_brackets({1, 1}, 2);
  start_all(*tournament, 2);
  tournament->on_validated(TrialNumber(1), test::score(0));
  EXPECT_EQ(tournament->verdict(TrialNumber(1)).reason.bracket, 1U);
  EXPECT_EQ(tournament->standing(TrialNumber(0)).bracket, 0U);
}

TEST(Tournament, ProgressIsTheMeanOverBrackets) {
  const auto tournament = flat_brackets({1, 3}, 4);
  start_all(*tournament, 4);
  finish(*tournament, TrialNumber(0));
  EXPECT_DOUBLE_EQ(tournament->progress(), 0.5);
}

// With work in every bracket all the time, no bracket ever has more than its share, and no slot stays empty.
TEST(Tournament, SharesAreExactWhileEveryBracketHasWork) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    engine::Draw draw(seed, TrialNumber(0), "tournament");
    const std::uint64_t brackets = 1 + draw.below(4);
    const std::uint64_t slots = brackets + draw.below(12);
    const auto tournament = flat_brackets(std::vector<std::uint64_t>(brackets, 1000), slots);
    std::vector<std::pair<TrialNumber, std::uint32_t>> running;
    std::vector<std::uint64_t> held(brackets, 0);
    for (std::uint64_t created = 0; created < 300;) {
      while (running.size() < slots) {
        const auto bracket = start(*tournament);
        ASSERT_TRUE(bracket.has_value());
        running.emplace_back(TrialNumber(created++), *bracket);
        ++held[*bracket];
      }
      for (std::uint64_t b = 0; b < brackets; ++b) {
        ASSERT_EQ(held[b], Tournament::share(slots, brackets, b));
      }
      const auto done = running.begin() + static_cast<std::ptrdiff_t>(draw.below(running.size()));
      finish(*tournament, done->first);
      --held[done->second];
      running.erase(done);
    }
  }
}

}  // namespace
}  // namespace hpsearch::searchers
