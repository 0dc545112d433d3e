#include "daemon/store/tools/write_ahead_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "daemon/store/sqlite_store.hpp"
#include "daemon/store/tools/closed_store.hpp"
#include "daemon/store/tools/salvage.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;

constexpr std::size_t header_bytes = 32;
constexpr std::size_t frame_bytes = 24 + 4'096;

engine::Event event(std::uint64_t lsn) {
  const engine::AttemptKey key{engine::ExperimentId(1), engine::TrialNumber(2), engine::AttemptNumber(3),
                               engine::LeaseId(4)};
  return engine::Event{
      engine::Lsn(lsn), engine::Instant::from_micros(static_cast<std::int64_t>(lsn)),
      engine::ReportTaken{key, lsn, engine::InvalidHparamsReport{"report " + std::to_string(lsn)}}};
}

using Bytes = std::vector<std::byte>;

Bytes content(const std::string& path) {
  const std::string text = text_of(path);
  Bytes bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

/// A store whose daemon was killed with ten commits in the write-ahead log: one of its start, nine of three
/// events.
class KilledStore : public testing::Test {
 protected:
  static constexpr std::uint64_t events = 27;

  void SetUp() override {
    scratch_.write("live/events.db", "");
    { ASSERT_TRUE(SqliteStore::open(live())); }  // A first start leaves no commit in the log.
    auto store = SqliteStore::open(live());
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE((*store)->recover([](const engine::Event&) -> engine::Status { return engine::Done{}; }));
    for (std::uint64_t lsn = 1; lsn <= events; lsn += 3) {
      ASSERT_TRUE((*store)->append(std::vector{event(lsn), event(lsn + 1), event(lsn + 2)}));
    }
    std::filesystem::copy(live(), path());
    std::filesystem::copy(scratch_.path("live/sealed"), scratch_.path("sealed"));
    log = content(live() + "-wal");
    ASSERT_EQ((log.size() - header_bytes) % frame_bytes, 0U);
    for (std::size_t at = header_bytes; at < log.size(); at += frame_bytes) {
      const bool commit =
          std::any_of(&log[at + 4], &log[at + 8], [](std::byte byte) { return byte != std::byte{}; });
      if (commit) {
        commit_ends.push_back(at + frame_bytes);
      }
    }
    ASSERT_EQ(commit_ends.size(), 10U);
  }

  [[nodiscard]] std::string live() const { return scratch_.path("live/events.db"); }
  [[nodiscard]] std::string path() const { return scratch_.path("events.db"); }
  void write_log() const {
    std::ofstream file(path() + "-wal", std::ios::binary);
    file.write(reinterpret_cast<const char*>(log.data()), static_cast<std::streamsize>(log.size()));
  }
  void flip(std::size_t byte, unsigned bit = 0) { log[byte] ^= static_cast<std::byte>(1U << bit); }
  [[nodiscard]] std::size_t last_commit() const { return commit_ends[commit_ends.size() - 2]; }

  Bytes log;
  std::vector<std::size_t> commit_ends;  ///< After each commit's last frame.

 private:
  Scratch scratch_;
};

TEST_F(KilledStore, IsReadWhole) {
  ASSERT_TRUE(check_write_ahead_log(log));
  write_log();
  auto store = SqliteStore::open(path());
  ASSERT_TRUE(store) << store.error().message;
  std::uint64_t read = 0;
  EXPECT_TRUE((*store)->recover([&](const engine::Event&) -> engine::Status {
    ++read;
    return engine::Done{};
  }));
  EXPECT_EQ(read, events);
}

TEST_F(KilledStore, FlippedBitBeforeTheLastCommitIsFound) {
  const Bytes sound = log;
  const unsigned seed = 20'261'122;
  std::mt19937 random(seed);
  for (int i = 0; i < 3'000; ++i) {
    log = sound;
    // All of the header, every byte of a frame's own header, and a sample of the pages.
    const std::size_t frame =
        header_bytes + random() % ((last_commit() - header_bytes) / frame_bytes) * frame_bytes;
    const std::size_t byte = i % 3 == 0 ? random() % header_bytes
                                        : frame + random() % (i % 3 == 1 ? std::size_t{24} : frame_bytes);
    if (byte >= last_commit() - frame_bytes + 4 && byte < last_commit() - frame_bytes + 8) {
      continue;  // The mark of the last commit but one.
    }
    flip(byte, random() % 8);
    const engine::Status checked = check_write_ahead_log(log);
    ASSERT_FALSE(checked) << "byte " << byte << ", seed " << seed;
    ASSERT_EQ(checked.error().code, Errc::corrupt);
    const std::string place = "(at byte " + std::to_string(i % 3 == 0 ? 0 : frame) + ")";
    ASSERT_NE(checked.error().message.find(place), std::string::npos)
        << checked.error().message << ", byte " << byte;
  }
}

TEST_F(KilledStore, LostSectorsBeforeTheLastCommitAreFound) {
  std::fill(log.begin() + static_cast<std::ptrdiff_t>(commit_ends[1] + frame_bytes),
            log.begin() + static_cast<std::ptrdiff_t>(commit_ends[1] + frame_bytes + 8'192), std::byte{});
  const engine::Status checked = check_write_ahead_log(log);
  ASSERT_FALSE(checked);
  const std::size_t whole_frames = (commit_ends[1] - header_bytes) / frame_bytes + 1;
  EXPECT_NE(checked.error().message.find("frame " + std::to_string(whole_frames + 1) + " "),
            std::string::npos)
      << checked.error().message;
}

TEST_F(KilledStore, TruncationIsAnUnfinishedCommit) {
  const Bytes sound = log;
  for (std::size_t size = 0; size < sound.size(); size += 97) {
    const engine::Status checked = check_write_ahead_log(std::span(sound).first(size));
    ASSERT_TRUE(checked) << size << ": " << checked.error().message;
  }
}

TEST_F(KilledStore, AnyPartOfTheLastCommitMayBeMissing) {
  const Bytes sound = log;
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    log = sound;
    for (std::size_t at = last_commit() / 512 * 512 + 512; at < log.size(); at += 512) {
      if (random() % 2 == 0) {
        const std::size_t end = std::min(at + 512, log.size());
        std::fill(log.begin() + static_cast<std::ptrdiff_t>(at),
                  log.begin() + static_cast<std::ptrdiff_t>(end), std::byte{});
      }
    }
    const engine::Status checked = check_write_ahead_log(log);
    ASSERT_TRUE(checked) << checked.error().message;
  }
}

TEST_F(KilledStore, FrameTornAfterItsFirstEightBytesIsAnUnfinishedCommit) {
  // Where a sector ends behind them, they may still be those of an earlier log, whose frame ended a commit
  // there.
  const Bytes sound = log;
  ASSERT_GT(log.size(), last_commit() + frame_bytes) << "the last commit must have two frames";
  for (std::size_t frame = last_commit(); frame + frame_bytes < log.size(); frame += frame_bytes) {
    log = sound;
    log[frame + 3] ^= std::byte{1};
    log[frame + 7] = std::byte{9};
    const engine::Status checked = check_write_ahead_log(log);
    EXPECT_TRUE(checked) << checked.error().message;
  }
}

TEST_F(KilledStore, FrameTornBeforeItsChecksumIsAnUnfinishedCommit) {
  const std::size_t last = log.size() - frame_bytes;
  log[last + 11] ^= std::byte{1};
  const engine::Status one = check_write_ahead_log(log);
  EXPECT_FALSE(one) << "a single salt is damaged, not torn";
  log[last + 15] ^= std::byte{1};
  const engine::Status both = check_write_ahead_log(log);
  EXPECT_TRUE(both) << both.error().message;
}

/// A log of small pages, as SQLite writes one whose words are big-endian.
class SmallPages {
 public:
  static constexpr std::size_t page_bytes = 512;
  /// The first frame whose first eight bytes are in one sector, and whose checksum is in the next one.
  static constexpr std::size_t split_frame = 41;

  SmallPages() {
    for (const std::uint32_t word : {0x377f0683U, 3'007'000U, 512U, 0U, salts[0], salts[1]}) {
      put(word);
    }
    checksum(0);
    put(first_);
    put(second_);
  }
  /// A frame that ends a commit if `size`, the pages of the database, isn't 0.
  void add(std::uint32_t size) {
    const std::size_t begin = log.size();
    put(1 + static_cast<std::uint32_t>(begin % 97));
    put(size);
    checksum(begin);
    put(salts[0]);
    put(salts[1]);
    const std::size_t place = log.size();
    log.resize(place + 8 + page_bytes, static_cast<std::byte>(begin % 251));
    checksum(place + 8);
    const Bytes page(log.begin() + static_cast<std::ptrdiff_t>(place + 8), log.end());
    log.resize(place);
    put(first_);
    put(second_);
    log.insert(log.end(), page.begin(), page.end());
  }
  void add_commits_up_to_the_split_frame() {
    while (log.size() < place_of(split_frame)) {
      add(100);
    }
  }
  [[nodiscard]] static std::size_t place_of(std::size_t frame) {
    return header_bytes + frame * (24 + page_bytes);
  }

  Bytes log;

 private:
  static constexpr std::array<std::uint32_t, 2> salts{17, 4'711};

  void put(std::uint32_t word) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
      log.push_back(static_cast<std::byte>(word >> shift & 0xFFU));
    }
  }
  /// Adds the bytes from `begin` to the end of the log to the running checksum.
  void checksum(std::size_t begin) {
    const auto word_at = [&](std::size_t at) {
      std::uint32_t word = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        word = word << 8U | std::to_integer<std::uint32_t>(log[at + i]);
      }
      return word;
    };
    for (std::size_t at = begin; at + 8 <= log.size(); at += 8) {
      first_ += word_at(at) + second_;
      second_ += word_at(at + 4) + first_;
    }
  }
  std::uint32_t first_ = 0;
  std::uint32_t second_ = 0;
};

TEST(SplitFrame, TornInItsHeaderAndItsPageIsAnUnfinishedCommit) {
  SmallPages pages;
  pages.add_commits_up_to_the_split_frame();
  for (const std::uint32_t size : {0U, 0U, 100U}) {
    pages.add(size);
  }
  const std::size_t frame = SmallPages::place_of(SmallPages::split_frame);
  ASSERT_EQ(frame % 512, 504U);
  ASSERT_TRUE(check_write_ahead_log(pages.log));
  // The sector with its first eight bytes and the one with the end of its page are those of an earlier log.
  pages.log[frame + 3] ^= std::byte{64};
  pages.log[frame + 7] = std::byte{9};
  pages.log[frame + 24 + 500] ^= std::byte{255};
  const engine::Status checked = check_write_ahead_log(pages.log);
  EXPECT_TRUE(checked) << checked.error().message;
}

TEST(SplitFrame, FlippedBitInItsHeaderIsFoundIfItEndedACommit) {
  SmallPages pages;
  pages.add_commits_up_to_the_split_frame();
  pages.add(100);
  pages.add(0);
  const Bytes sound = pages.log;
  ASSERT_TRUE(check_write_ahead_log(sound));
  for (std::size_t byte = 0; byte < 8; ++byte) {
    pages.log = sound;
    pages.log[SmallPages::place_of(SmallPages::split_frame) + byte] ^= std::byte{16};
    EXPECT_FALSE(check_write_ahead_log(pages.log)) << "byte " << byte;
  }
}

TEST(SplitFrame, DamagedPageIsFoundIfALaterCommitIsDurable) {
  SmallPages pages;
  pages.add_commits_up_to_the_split_frame();
  for (const std::uint32_t size : {100U, 100U, 0U}) {
    pages.add(size);
  }
  pages.log[SmallPages::place_of(SmallPages::split_frame) + 24 + 500] ^= std::byte{255};
  EXPECT_FALSE(check_write_ahead_log(pages.log));
}

TEST_F(KilledStore, FramesOfAnEarlierLongerLogAreIgnored) {
  // As after a checkpoint: the log begins anew, with other salts, and overwrites the frames of the last one.
  Bytes longer = log;
  longer.insert(longer.end(), log.begin() + static_cast<std::ptrdiff_t>(header_bytes), log.end());
  for (std::size_t at = log.size() + 8; at < longer.size(); at += frame_bytes) {
    longer[at] ^= std::byte{1};
  }
  const engine::Status checked = check_write_ahead_log(longer);
  EXPECT_TRUE(checked) << checked.error().message;
}

TEST_F(KilledStore, DamagedLogIsRefusedAndUnchanged) {
  flip(commit_ends[4] + 1'000);
  write_log();
  const auto store = SqliteStore::open(path());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Errc::corrupt);
  EXPECT_NE(store.error().message.find(path() + "-wal"), std::string::npos) << store.error().message;
  EXPECT_EQ(content(path() + "-wal"), log);
}

TEST_F(KilledStore, EventsBeforeTheDamageAreReadAndSalvaged) {
  flip(commit_ends[4] + 1'000);
  write_log();
  {
    auto store = ClosedStore::open(path());
    ASSERT_TRUE(store) << store.error().message;
    std::uint64_t visited = 0;
    const engine::Status read =
        (*store)->read([&](const RecordView&, const engine::Event&) -> engine::Status {
          ++visited;
          return engine::Done{};
        });
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::corrupt);
    EXPECT_EQ(visited, 12U);
    EXPECT_FALSE((*store)->copy_to(path() + ".copy"));
    const auto saved = salvage(**store, path() + ".saved", engine::Instant{});
    ASSERT_TRUE(saved) << saved.error().message;
    EXPECT_EQ(saved->kept.number(), 12U);
    EXPECT_NE(saved->damage.find("-wal"), std::string::npos) << saved->damage;
  }
  EXPECT_EQ(content(path() + "-wal"), log);
}

}  // namespace
}  // namespace hpsearch::daemon
