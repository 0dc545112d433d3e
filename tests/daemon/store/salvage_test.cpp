#include "daemon/store/tools/salvage.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "daemon/store/sqlite_store.hpp"
#include "daemon/store/tools/closed_store.hpp"
#include "hpsearch/engine/experiment/numbering.hpp"
#include "scratch.hpp"

// The numbers with which a copy of a store continues (hpsearch store restore, salvage).

namespace hpsearch::daemon {
namespace {

using engine::Instant;

engine::Event event(std::uint64_t lsn) {
  const engine::AttemptKey key{engine::ExperimentId(1), engine::TrialNumber(2), engine::AttemptNumber(3),
                               engine::LeaseId(4)};
  return {engine::Lsn(lsn), Instant::from_micros(static_cast<std::int64_t>(lsn)),
          engine::ReportTaken{key, lsn, engine::InvalidHparamsReport{"report " + std::to_string(lsn)}}};
}

/// The beginning of a copy.
struct Begins {
  std::uint64_t starts = 0;
  std::uint64_t events = 0;
  std::uint64_t numbers_from = 0;
  Instant at;
};

class CopiedStore : public testing::Test {
 protected:
  void SetUp() override {
    auto store = SqliteStore::open(scratch_.path("events.db"));
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE((*store)->recover([](const engine::Event&) -> engine::Status { return engine::Done{}; }));
    ASSERT_TRUE((*store)->append(std::vector{event(1), event(2), event(3)}));
  }

  Begins copy(const std::string& from, const std::string& to, Instant now,
              std::optional<engine::Lsn> upto = {}) {
    auto old = ClosedStore::open(scratch_.path(from));
    EXPECT_TRUE(old) << old.error().message;
    const auto copied = salvage(**old, scratch_.path(to), now, upto);
    EXPECT_TRUE(copied) << copied.error().message;
    EXPECT_EQ(copied->damage, "");
    auto made = ClosedStore::open(scratch_.path(to));
    EXPECT_TRUE(made) << made.error().message;
    Begins begins;
    begins.starts = (*made)->daemon_epoch();
    const engine::Status read =
        (*made)->read([&](const RecordView& record, const engine::Event& one) -> engine::Status {
          begins.events = record.lsn.number();
          begins.at = one.at;
          const auto* restored = std::get_if<engine::StoreRestored>(&one.body);
          begins.numbers_from = restored != nullptr ? restored->numbers_from : 0;
          return engine::Done{};
        });
    EXPECT_TRUE(read) << read.error().message;
    return begins;
  }

  static Instant at(std::int64_t seconds) { return Instant::from_micros(seconds * 1'000'000); }
  static constexpr std::int64_t today = 1'795'405'249;

  Scratch scratch_;
};

TEST_F(CopiedStore, EndsWithARenumberingEvent) {
  const Begins begins = copy("events.db", "copy.db", at(today));
  EXPECT_EQ(begins.events, 4U);
  EXPECT_EQ(begins.at, at(today));
  EXPECT_GE(begins.numbers_from, engine::Numbering::first_after_a_restore);
  EXPECT_GT(begins.starts, 1'000'000U);
}

TEST_F(CopiedStore, EndsAfterTheEventThatWasAskedFor) {
  EXPECT_EQ(copy("events.db", "two.db", at(today), engine::Lsn(2)).events, 3U);
  EXPECT_EQ(copy("events.db", "all.db", at(today), engine::Lsn(3)).events, 4U);
}

TEST_F(CopiedStore, IsNotCutInTheMiddleOfADecision) {
  {
    auto store = SqliteStore::open(scratch_.path("events.db"));
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE((*store)->recover([](const engine::Event&) -> engine::Status { return engine::Done{}; }));
    engine::Event fifth = event(5);
    fifth.at = event(4).at;
    ASSERT_TRUE((*store)->append(std::vector{event(4), fifth, event(6)}));
  }
  EXPECT_EQ(copy("events.db", "three.db", at(today), engine::Lsn(3)).events, 4U);
  EXPECT_EQ(copy("events.db", "four.db", at(today), engine::Lsn(4)).events, 6U) << "5 has the instant of 4";
}

TEST_F(CopiedStore, IsAheadOfAnEarlierCopy) {
  const Begins first = copy("events.db", "first.db", at(today));
  const Begins second = copy("events.db", "second.db", at(today + 60));
  EXPECT_GE(second.starts, first.starts + 60) << "a daemon on the first copy may have started each second";
  EXPECT_GE(second.numbers_from, first.numbers_from + 60'000'000)
      << "and have stored a million events in each";
}

TEST_F(CopiedStore, IsAheadOfItsOwnPastForAnyClock) {
  Begins before = copy("events.db", "0.db", at(today));
  for (int i = 1; i < 5; ++i) {
    const Begins next =
        copy(std::to_string(i - 1) + ".db", std::to_string(i) + ".db", at(i % 2 == 0 ? today - 5 : 0));
    EXPECT_GT(next.starts, before.starts);
    EXPECT_GT(next.numbers_from, before.numbers_from + before.events);
    EXPECT_EQ(next.events, before.events + 1);
    EXPECT_GE(next.at, before.at);
    before = next;
  }
}

}  // namespace
}  // namespace hpsearch::daemon
