#include "hpsearch/workers/shell/journal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "hpsearch/workers/shell/processes/control_group.hpp"
#include "hpsearch/workers/shell/shim/launch_order.hpp"
#include "scratch.hpp"
#include "workers/shell/scarcity.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Units;

std::vector<JournalRecord> all_of(const fs::path& path) {
  auto reader = JournalReader::open(path);
  EXPECT_TRUE(reader.has_value());
  std::vector<JournalRecord> records;
  std::uint64_t position = 0;
  while (auto record = reader->next(position)) {
    records.push_back(*std::move(record));
  }
  return records;
}

TEST(Journals, AreReadBackUnchanged) {
  const Scratch scratch;
  const fs::path path = scratch.path() / "journal";
  const double nan = std::nan("");
  auto writer = JournalWriter::open(path);
  ASSERT_TRUE(writer.has_value());
  ASSERT_TRUE(writer->append(JournalStarted{"process table"}, true));
  ASSERT_TRUE(writer->append(
      JournalMessageReceived{7, true,
                             MetricsMessage{engine::Units{3}, {{"a.b", 0.5}, {"loss", nan}}, {"name"}}},
      false));
  ASSERT_TRUE(writer->append(JournalMessageReceived{0, false, CheckpointMessage{}}, false));
  ASSERT_TRUE(writer->append(JournalStuck{1234}, false));
  ASSERT_TRUE(writer->append(JournalEnded{true, 9, true, true, "last\nwords"}, true));
  const std::vector<JournalRecord> records = all_of(path);
  ASSERT_EQ(records.size(), 5U);
  EXPECT_EQ(std::get<JournalStarted>(records[0]).means, "process table");
  EXPECT_EQ(std::get<JournalMessageReceived>(records[1]).question, 7U);
  EXPECT_TRUE(std::get<JournalMessageReceived>(records[1]).answered);
  const auto metrics = std::get<MetricsMessage>(std::get<JournalMessageReceived>(records[1]).message);
  EXPECT_EQ(metrics.step, engine::Units{3});
  EXPECT_EQ(metrics.metrics.at(0), (std::pair<std::string, double>("a.b", 0.5)));
  EXPECT_TRUE(std::isnan(metrics.metrics.at(1).second));
  EXPECT_EQ(metrics.ignored, std::vector<std::string>{"name"});
  EXPECT_FALSE(std::get<CheckpointMessage>(std::get<JournalMessageReceived>(records[2]).message).step);
  EXPECT_EQ(std::get<JournalStuck>(records[3]).pid, 1234);
  const auto& ended = std::get<JournalEnded>(records[4]);
  EXPECT_TRUE(ended.by_signal && ended.asked && ended.out_of_memory);
  EXPECT_EQ(ended.code, 9);
  EXPECT_EQ(ended.log_tail, "last\nwords");
}

TEST(Journals, TruncatedOnesHaveTheRecordsBeforeTheCut) {
  const Scratch scratch;
  const fs::path path = scratch.path() / "journal";
  std::vector<std::uint64_t> ends;
  {
    auto writer = JournalWriter::open(path);
    ASSERT_TRUE(writer.has_value());
    for (std::uint64_t question = 1; question <= 3; ++question) {
      ASSERT_TRUE(writer->append(
          JournalMessageReceived{question, false, RemarkMessage{"line " + std::to_string(question)}}, false));
      ends.push_back(writer->size());
    }
  }
  const std::string whole = text_of(path);
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    write_text(path, whole.substr(0, cut));
    std::size_t expected = 0;
    for (const std::uint64_t end : ends) {
      expected += cut >= end ? 1 : 0;
    }
    EXPECT_EQ(all_of(path).size(), expected) << "cut at " << cut;
  }
}

TEST(Journals, DamagedRecordIsNotReturned) {
  const Scratch scratch;
  const fs::path path = scratch.path() / "journal";
  {
    auto writer = JournalWriter::open(path);
    ASSERT_TRUE(writer->append(JournalMessageReceived{1, false, RemarkMessage{"line"}}, false));
  }
  const std::string whole = text_of(path);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    write_text(path, damaged);
    EXPECT_TRUE(all_of(path).empty()) << "byte " << at;
  }
}

TEST(Journals, HaveOneShimAndShowWhetherItLives) {
  const Scratch scratch;
  const fs::path path = scratch.path() / "journal";
  {
    auto writer = JournalWriter::open(path);
    ASSERT_TRUE(writer.has_value());
    EXPECT_EQ(JournalWriter::open(path).error().code, Errc::wrong_state);
    EXPECT_TRUE(JournalReader::open(path)->kept());
  }
  EXPECT_FALSE(JournalReader::open(path)->kept());
  EXPECT_TRUE(JournalWriter::open(path).has_value());
}

TEST(Journals, FreeTheirSpaceAndKeepTheirPositions) {
  const Scratch scratch;
  const fs::path path = scratch.path() / "journal";
  auto writer = JournalWriter::open(path);
  ASSERT_TRUE(writer->append(JournalStarted{"process table"}, false));
  const std::string line(60'000, 'x');
  std::uint64_t position = 0;
  for (int i = 0; i < 200; ++i) {
    position = writer->size();
    ASSERT_TRUE(writer->append(JournalMessageReceived{0, false, RemarkMessage{line}}, false));
  }
  writer->drop_before(position);
  EXPECT_EQ(writer->wanted(), writer->size() - position);
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  if (info.st_blocks * 512 >= info.st_size) {
    GTEST_SKIP() << "this file system cannot make holes";
  }
  EXPECT_LT(info.st_blocks * 512, 1'000'000);
  auto reader = JournalReader::open(path);
  const auto last = reader->next(position);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(std::get<RemarkMessage>(std::get<JournalMessageReceived>(*last).message).log, line);
  std::uint64_t beginning = 0;
  EXPECT_TRUE(reader->next(beginning).has_value());
}

/// A file that can be written but not truncated: the rest of a record stays in it.
TEST(Journals, NothingIsAppendedAfterAnIncompleteRecord) {
  const int file = ::memfd_create("journal", MFD_ALLOW_SEALING);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  auto writer = JournalWriter::open("/proc/self/fd/" + std::to_string(file));
  ASSERT_TRUE(writer) << writer.error().message;
  ASSERT_TRUE(writer->append(JournalStarted{"process table"}, false));
  const std::uint64_t size = writer->size();
  {
    const FullDisk full(size + 5);
    EXPECT_FALSE(writer->append(JournalMessageReceived{0, false, RemarkMessage{"cut off"}}, false));
  }
  EXPECT_EQ(::lseek(file, 0, SEEK_END), static_cast<off_t>(size + 5)) << "a part of it was written";
  EXPECT_FALSE(writer->append(JournalMessageReceived{0, false, RemarkMessage{"never read"}}, false));
  EXPECT_EQ(::lseek(file, 0, SEEK_END), static_cast<off_t>(size + 5));
  EXPECT_EQ(writer->size(), size);
  ::close(file);
}

TEST(LaunchOrders, AreReadBackUnchangedAndPrivate) {
  const Scratch scratch;
  const fs::path path = scratch.path() / "launch";
  LaunchOrder order;
  order.program.argv = {"/bin/sh", "", "-c", "a b\nc \xFF"};
  order.program.environment = {{"A", ""}, {"B", "\xFE=\n"}};
  order.program.directory = "/w";
  order.program.token = "T=1";
  order.report_socket = "/s";
  order.agent_socket = "/a";
  order.metric_patterns = {{"acc", "acc=(.*)"}};
  order.first_step = Units{17};
  ASSERT_TRUE(write_launch_order(path, order).has_value());
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U) << "an environment may hold secrets";
  const auto read = read_launch_order(path);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->program.argv, order.program.argv);
  EXPECT_EQ(read->program.environment, order.program.environment);
  EXPECT_EQ(read->program.directory, "/w");
  EXPECT_EQ(read->program.token, "T=1");
  EXPECT_EQ(read->report_socket, "/s");
  EXPECT_EQ(read->agent_socket, "/a");
  EXPECT_EQ(read->metric_patterns, order.metric_patterns);
  EXPECT_EQ(read->first_step, Units{17});
  const std::string whole = text_of(path);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    write_text(path, whole.substr(0, cut));
    EXPECT_EQ(read_launch_order(path).error().code, Errc::corrupt) << cut;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    write_text(path, damaged);
    EXPECT_EQ(read_launch_order(path).error().code, Errc::corrupt) << at;
  }
}

// --- cgroups ---

TEST(ControlGroups, DetectKillsForLackOfMemory) {
  const Scratch scratch;
  const ControlGroup group(scratch.path());
  EXPECT_FALSE(group.ran_out_of_memory()) << "memory is not counted";
  scratch.write("memory.events", "low 0\nhigh 7\nmax 9\noom 2\noom_kill 0\noom_group_kill 0\n");
  EXPECT_FALSE(group.ran_out_of_memory());
  scratch.write("memory.events", "low 0\nhigh 7\nmax 9\noom 2\noom_kill 3\noom_group_kill 1\n");
  EXPECT_TRUE(group.ran_out_of_memory());
}

TEST(ControlGroups, KillAllTheirProcessesAtOnce) {
  const auto group = ControlGroup::make("hpsearch-test-" + std::to_string(::getpid()));
  if (!group) {
    GTEST_SKIP() << "no cgroup (v2) may be made here";
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    ::pause();
    ::_exit(0);
  }
  ASSERT_TRUE(group->take(child));
  EXPECT_EQ(group->processes(), std::vector<pid_t>{child});
  EXPECT_FALSE(group->ran_out_of_memory());
  group->kill();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_TRUE(group->processes().empty());
  group->remove();
  EXPECT_FALSE(fs::exists(group->directory()));
}

}  // namespace
}  // namespace hpsearch::workers::test
