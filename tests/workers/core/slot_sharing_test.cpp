#include "hpsearch/workers/core/slot_sharing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hpsearch::workers {
namespace {

using engine::SlotIndex;
using Slots = std::vector<SlotIndex>;

SlotClaim claim(const std::string& slot, const std::string& worker, bool busy) {
  return {slot, worker, "search " + worker, busy};
}

SlotTicket ticket(const std::string& worker, std::uint64_t number, std::uint64_t lacks,
                  std::vector<std::string> slots = {"cpu-0", "cpu-1"}) {
  return {worker, "search " + worker, number, lacks, std::move(slots)};
}

SharingWorker worker(const std::string& uid, const std::vector<bool>& busy, std::uint64_t wanted = 0) {
  SharingWorker made{.uid = uid, .slots = {}, .wanted = wanted};
  for (std::size_t i = 0; i < busy.size(); ++i) {
    made.slots.push_back({"cpu-" + std::to_string(i), busy[i]});
  }
  return made;
}

std::vector<std::string> reasons(const SharingStep& step) {
  std::vector<std::string> all;
  for (const UnusableSlot& slot : step.taken) {
    all.push_back(std::to_string(slot.slot.number()) + " " + slot.why);
  }
  return all;
}
using Reasons = std::vector<std::string>;

TEST(SlotSharing, AloneItTakesAllAndNeverWaits) {
  const SharingStep step = share_slots(worker("a", {false, false}, 1), {});
  EXPECT_EQ(step.take, (Slots{SlotIndex{0}, SlotIndex{1}}));
  EXPECT_TRUE(step.taken.empty());
  EXPECT_EQ(step.lacks, 0U);
}

TEST(SlotSharing, SlotsOfOthersAreNamedAndWaitedFor) {
  const SlotsOfMachine machine{{claim("cpu-0", "a", true), claim("cpu-1", "a", false)}, {}};
  const SharingStep step = share_slots(worker("b", {false, false}, 1), machine);
  EXPECT_EQ(reasons(step), (Reasons{"0 in use by search a", "1 in use by search a"}));
  EXPECT_TRUE(step.take.empty());
  EXPECT_EQ(step.lacks, 1U);
}

TEST(SlotSharing, ItWaitsForNothingWithoutATrialThatWaits) {
  const SlotsOfMachine machine{{claim("cpu-0", "a", true), claim("cpu-1", "a", true)}, {}};
  EXPECT_EQ(share_slots(worker("b", {false, false}), machine).lacks, 0U);
}

TEST(SlotSharing, AnIdleSlotGoesToWhoeverWaits) {
  const SlotsOfMachine machine{{claim("cpu-0", "a", true), claim("cpu-1", "a", false)}, {ticket("b", 1, 1)}};
  const SharingStep step = share_slots(worker("a", {true, false}), machine);
  EXPECT_EQ(step.give, Slots{SlotIndex{1}});
  EXPECT_EQ(reasons(step), Reasons{"1 promised to search b, which waits"});
}

TEST(SlotSharing, TheNextSlotThatBecomesFreeIsPromisedToWhoeverWaits) {
  const SlotsOfMachine machine{{claim("cpu-0", "a", true), claim("cpu-1", "a", true)}, {ticket("b", 1, 1)}};
  const SharingStep step = share_slots(worker("a", {true, true}, 1), machine);
  EXPECT_TRUE(step.give.empty());
  EXPECT_EQ(step.taken.size(), 2U);
  EXPECT_EQ(step.lacks, 1U) << "it stands behind b";
}

TEST(SlotSharing, AFreeSlotIsForTheFirstInLine) {
  const SlotsOfMachine machine{{claim("cpu-0", "a", true)}, {ticket("b", 3, 1), ticket("c", 2, 1)}};
  EXPECT_EQ(share_slots(worker("c", {false, false}, 1), machine).take, Slots{SlotIndex{1}});
  EXPECT_TRUE(share_slots(worker("b", {false, false}, 1), machine).take.empty());
  EXPECT_TRUE(share_slots(worker("d", {false, false}), machine).take.empty()) << "it has no ticket";
}

TEST(SlotSharing, ASearchWithoutASlotIsServedBeforeOneThatHasSome) {
  const SlotsOfMachine machine{{claim("cpu-0", "a", true)}, {ticket("a", 1, 1), ticket("b", 2, 1)}};
  EXPECT_TRUE(share_slots(worker("a", {true, false}, 1), machine).take.empty());
  EXPECT_EQ(share_slots(worker("b", {false, false}, 1), machine).take, Slots{SlotIndex{1}});
}

TEST(SlotSharing, TheLaterOfTwoThatNeedSeveralGivesWay) {
  const SlotsOfMachine machine{{claim("cpu-0", "a", false), claim("cpu-1", "b", false)},
                               {ticket("a", 1, 1), ticket("b", 2, 1)}};
  EXPECT_TRUE(share_slots(worker("a", {false, false}, 2), machine).give.empty());
  EXPECT_EQ(share_slots(worker("b", {false, false}, 2), machine).give, Slots{SlotIndex{1}});
}

TEST(SlotSharing, ATicketForOtherSlotsTakesNoneOfIts) {
  const SlotsOfMachine machine{{claim("cpu-0", "a", false)}, {ticket("b", 1, 1, {"cpu-7"})}};
  const SharingStep step = share_slots(worker("a", {false, false}), machine);
  EXPECT_TRUE(step.give.empty());
  EXPECT_EQ(step.take, Slots{SlotIndex{1}});
}

TEST(SlotSharing, AnExactSearchGetsItsSlotAtOnce) {
  const SlotsOfMachine machine{{claim("cpu-0", "a", false), claim("cpu-0", "exact", true)}, {}};
  const SharingStep step = share_slots(worker("a", {false, false}), machine);
  EXPECT_EQ(step.give, Slots{SlotIndex{0}});
  EXPECT_EQ(reasons(step), Reasons{"0 in use by search exact"});
}

TEST(SlotSharing, ALeftOutDeviceIsGivenUpAndNotTaken) {
  SharingWorker one = worker("a", {false, false}, 2);
  one.slots[0].left_out = "GPU 0 is left out";
  const SharingStep step = share_slots(one, {{claim("cpu-0", "a", false)}, {}});
  EXPECT_EQ(step.give, Slots{SlotIndex{0}});
  EXPECT_EQ(step.take, Slots{SlotIndex{1}});
  EXPECT_EQ(reasons(step), Reasons{"0 GPU 0 is left out"});
  EXPECT_EQ(step.lacks, 1U);
}

/// Searches on one machine, each with trials of one step; in each round every trial that runs ends.
class Machine {
 public:
  Machine(std::size_t slots, std::map<std::string, std::uint64_t> trials)
      : slots_(slots), trials_(std::move(trials)) {}

  /// The order in which trials start.
  std::vector<std::string> run() {
    while (std::any_of(trials_.begin(), trials_.end(), [](const auto& one) { return one.second > 0; })) {
      for (int turn = 0; turn < 3; ++turn) {  // Each hears what the others did.
        for (auto& [uid, left] : trials_) {
          step(uid, left);
        }
      }
      EXPECT_LE(busy_.size(), slots_);
      const auto ended = std::exchange(busy_, {});
      for (const auto& [slot, uid] : ended) {
        if (promised_[uid].contains(slot)) {
          idle_.erase(slot);
        }
      }
    }
    return started_;
  }

 private:
  SlotsOfMachine seen() const {
    SlotsOfMachine machine;
    for (const auto& [slot, uid] : idle_) {
      machine.claims.push_back(claim(slot, uid, busy_.contains(slot)));
    }
    for (const auto& [uid, one] : tickets_) {
      machine.tickets.push_back(one);
    }
    return machine;
  }

  void step(const std::string& uid, std::uint64_t& left) {
    SharingWorker one{.uid = uid, .slots = {}, .wanted = left > 0 ? 1U : 0U};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < slots_; ++i) {
      names.push_back("cpu-" + std::to_string(i));
      const auto busy = busy_.find(names.back());
      one.slots.push_back({names.back(), busy != busy_.end() && busy->second == uid});
    }
    const SharingStep next = share_slots(one, seen());
    for (const SlotIndex slot : next.take) {
      idle_[names[slot.number()]] = uid;
    }
    for (const SlotIndex slot : next.give) {
      idle_.erase(names[slot.number()]);
    }
    promised_[uid].clear();
    for (const UnusableSlot& slot : next.taken) {
      promised_[uid].insert(names[slot.slot.number()]);
    }
    if (left == 0) {
      tickets_.erase(uid);
    } else if (const auto known = tickets_.find(uid); known != tickets_.end()) {
      known->second.lacks = next.lacks;
    } else if (next.lacks > 0) {
      tickets_.emplace(uid, ticket(uid, next_ticket(seen()), next.lacks, names));
    }
    for (const std::string& name : names) {
      const bool leased = left > 0 && idle_.contains(name) && idle_[name] == uid && !busy_.contains(name) &&
                          !promised_[uid].contains(name);
      if (leased) {
        busy_[name] = uid;
        started_.push_back(uid);
        tickets_.erase(uid);
        --left;
      }
    }
  }

  std::size_t slots_;
  std::map<std::string, std::uint64_t> trials_;
  std::map<std::string, std::string> idle_;  ///< Slot → who has it, busy or not.
  std::map<std::string, std::string> busy_;
  std::map<std::string, SlotTicket> tickets_;
  std::map<std::string, std::set<std::string>> promised_;
  std::vector<std::string> started_;
};

TEST(SlotSharing, TwoSearchesTakeTurns) {
  const std::vector<std::string> started = Machine(2, {{"a", 20}, {"b", 20}}).run();
  ASSERT_EQ(started.size(), 40U);
  for (std::size_t begin = 2; begin + 6 <= 30; ++begin) {
    const auto from = started.begin() + static_cast<std::ptrdiff_t>(begin);
    EXPECT_GE(std::count(from, from + 6, "a"), 2) << "from start " << begin;
    EXPECT_GE(std::count(from, from + 6, "b"), 2) << "from start " << begin;
  }
}

TEST(SlotSharing, NoneOfFiveSearchesStarves) {
  const std::vector<std::string> started =
      Machine(2, {{"a", 12}, {"b", 12}, {"c", 12}, {"d", 12}, {"e", 12}}).run();
  ASSERT_EQ(started.size(), 60U);
  for (const std::string uid : {"a", "b", "c", "d", "e"}) {
    const auto first = std::find(started.begin(), started.end(), uid) - started.begin();
    EXPECT_LE(first, 9) << uid;
    const auto half = started.begin() + 30;
    EXPECT_GE(std::count(started.begin(), half, uid), 3) << uid;
  }
}

}  // namespace
}  // namespace hpsearch::workers
