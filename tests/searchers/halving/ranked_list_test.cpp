#include "hpsearch/searchers/ranked_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "searchers/settings.hpp"

namespace hpsearch::searchers {
namespace {

using engine::Draw;
using engine::Score;
using test::score;

TEST(RankedList, CountsWhoStandsBefore) {
  RankedList list;
  list.insert({score(0.5), 0});
  list.insert({score(0.1), 1});
  list.insert({score(0.9), 2});
  EXPECT_EQ(list.size(), 3U);
  EXPECT_EQ(list.rank_of({score(0.1), 1}), 0U);
  EXPECT_EQ(list.rank_of({score(0.9), 2}), 2U);
  EXPECT_EQ(list.rank_of({score(0.6), 9}), 2U);
  EXPECT_EQ(list.nth(1), (Place{score(0.5), 0}));
}

TEST(RankedList, EqualScoresStandByTie) {
  RankedList list;
  list.insert({Score::worst(), 7});
  list.insert({Score::worst(), 3});
  EXPECT_EQ(list.nth(0).tie, 3U);
  EXPECT_EQ(list.rank_of({Score::worst(), 7}), 1U);
}

TEST(RankedList, AnEmptyListRanksEverythingFirst) {
  EXPECT_EQ(RankedList().rank_of({score(1), 0}), 0U);
}

// Against a sorted vector, over sizes where blocks split and vanish. `spread` values make ties rarer or
// commoner.
class Twin {
 public:
  Twin(std::uint64_t seed, std::uint64_t spread)
      : draw_(seed, engine::TrialNumber(0), "ranked_list"), spread_(spread) {}

  void add() {
    const Place place = drawn();
    const bool marked = draw_.below(2) == 0;
    const auto at = std::upper_bound(sorted_.begin(), sorted_.end(), Entry{place, false});
    ASSERT_EQ(list_.insert(place, marked), static_cast<std::uint64_t>(at - sorted_.begin()));
    sorted_.insert(at, {place, marked});
  }
  void take_out() {
    const auto victim = sorted_.begin() + static_cast<std::ptrdiff_t>(draw_.below(sorted_.size()));
    list_.erase(victim->place);
    sorted_.erase(victim);
  }
  void unmark_one() {
    Entry& entry = sorted_[draw_.below(sorted_.size())];
    list_.unmark(entry.place);
    entry.marked = false;
  }
  void unmark_most() {
    const std::uint64_t rank = draw_.below(sorted_.size() + 2);
    list_.unmark_from(rank);
    for (std::size_t i = rank; i < sorted_.size(); ++i) {
      sorted_[i].marked = false;
    }
  }
  void agree() {
    ASSERT_EQ(list_.size(), sorted_.size());
    const auto marked =
        std::find_if(sorted_.begin(), sorted_.end(), [](const Entry& entry) { return entry.marked; });
    const auto first = list_.first_marked();
    ASSERT_EQ(first.has_value(), marked != sorted_.end());
    if (first) {
      ASSERT_EQ(first->place, marked->place);
      ASSERT_EQ(first->rank, static_cast<std::uint64_t>(marked - sorted_.begin()));
    }
    if (!sorted_.empty()) {
      const std::size_t rank = static_cast<std::size_t>(draw_.below(sorted_.size()));
      ASSERT_EQ(list_.nth(rank), sorted_[rank].place);
      ASSERT_EQ(list_.rank_of(sorted_[rank].place), rank);
    }
    const Place absent{score(static_cast<double>(draw_.below(spread_)) + 0.5), 0};
    ASSERT_EQ(list_.rank_of(absent),
              static_cast<std::uint64_t>(
                  std::lower_bound(sorted_.begin(), sorted_.end(), Entry{absent, false}) - sorted_.begin()));
  }
  void agree_on_all() {
    ASSERT_EQ(list_.size(), sorted_.size());
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      ASSERT_EQ(list_.nth(i), sorted_[i].place);
      ASSERT_EQ(list_.rank_of(sorted_[i].place), i);
    }
  }
  [[nodiscard]] bool empty() const { return sorted_.empty(); }
  [[nodiscard]] engine::Draw& draw() { return draw_; }

 private:
  struct Entry {
    Place place;
    bool marked = false;
    friend bool operator<(const Entry& a, const Entry& b) { return a.place < b.place; }
  };

  Place drawn() {
    const std::uint64_t value = draw_.below(spread_ + 1);
    return {value == spread_ ? Score::worst() : score(static_cast<double>(value)), next_++};
  }

  Draw draw_;
  std::uint64_t spread_;
  std::uint32_t next_ = 0;
  RankedList list_;
  std::vector<Entry> sorted_;
};

void compare_with_sorted_vector(std::uint64_t seed, std::uint64_t steps, std::uint64_t spread,
                                std::uint64_t erase_percent) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Twin twin(seed, spread);
  for (std::uint64_t step = 0; step < steps && !::testing::Test::HasFatalFailure(); ++step) {
    if (twin.empty() || twin.draw().below(100) >= erase_percent) {
      twin.add();
    } else {
      twin.take_out();
    }
    if (!twin.empty() && twin.draw().below(3) == 0) {
      twin.unmark_one();
    }
    if (twin.draw().below(500) == 0) {
      twin.unmark_most();
    }
    twin.agree();
  }
  twin.agree_on_all();
}

TEST(RankedList, AgreesWithASortedVector) {
  compare_with_sorted_vector(1, 30'000, 1'000'000, 10);
  compare_with_sorted_vector(2, 6000, 3, 10);
  compare_with_sorted_vector(3, 6000, 1, 0);
}

TEST(RankedList, AgreesWithASortedVectorWhenMostIsTakenOutAgain) {
  compare_with_sorted_vector(4, 6000, 1000, 49);
  compare_with_sorted_vector(5, 3000, 1000, 60);
}

TEST(RankedList, IsUsableAgainAfterEverythingWasTakenOut) {
  RankedList list;
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t i = 0; i < 9000; ++i) {
      list.insert({score(i % 97), i}, true);
    }
    for (std::uint32_t i = 0; i < 9000; ++i) {
      list.erase({score(i % 97), i});
    }
    EXPECT_EQ(list.size(), 0U);
    EXPECT_FALSE(list.first_marked().has_value());
    EXPECT_EQ(list.rank_of({score(5), 0}), 0U);
  }
}

TEST(RankedList, AgreesWithASortedVectorWhenEachIsBetterThanAllBefore) {
  RankedList list;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(list.insert({score(-static_cast<double>(i)), i}), 0U);
    ASSERT_EQ(list.rank_of({score(-static_cast<double>(i)), i}), 0U);
    ASSERT_EQ(list.nth(i).tie, 0U);
  }
}

TEST(RankedList, AgreesWithASortedVectorWhenEachIsWorseThanAllBefore) {
  RankedList list;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    ASSERT_EQ(list.insert({score(i), i}, true), i);
    ASSERT_EQ(list.nth(i / 2).tie, i / 2);
    list.unmark({score(i / 2), i / 2});
    if (i > 0) {
      ASSERT_EQ(list.first_marked()->rank, i / 2 + 1);
    }
  }
}

TEST(RankedList, ABetterScoreFindsItsPlaceAfterTheBestHaveLeft) {
  RankedList list;
  constexpr std::uint32_t count = 2000;
  for (std::uint32_t i = 0; i < count; ++i) {
    list.insert({score(i), i});
  }
  for (std::uint32_t i = 0; i < count / 2; ++i) {
    list.erase({score(i), i});
  }
  for (std::uint32_t i = count / 2; i > 0; --i) {
    const Place place{score(i - 1), count + i};
    ASSERT_EQ(list.insert(place), 0U);
    ASSERT_EQ(list.rank_of(place), 0U);
    ASSERT_EQ(list.nth(0), place);
  }
}

TEST(RankedList, MinusZeroIsZero) {
  RankedList list;
  list.insert({score(0.0), 1});
  list.insert({score(-0.0), 0});
  EXPECT_EQ(list.nth(0).tie, 0U);
}

}  // namespace
}  // namespace hpsearch::searchers
