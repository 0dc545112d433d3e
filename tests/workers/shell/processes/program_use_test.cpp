#include "hpsearch/workers/shell/processes/program_use.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scratch.hpp"

// Sums over process tables that the tests make up.

namespace hpsearch::workers {
namespace {

constexpr std::uint64_t start = 5;

ProcessInfo process(pid_t pid, pid_t parent, pid_t session, std::uint64_t cpu_ticks, std::uint64_t pages) {
  return {.pid = pid,
          .parent = parent,
          .group = session,
          .session = session,
          .state = 'S',
          .threads = 1,
          .start_time = start,
          .cpu_ticks = cpu_ticks,
          .resident_pages = pages};
}

ProcessRecord program(pid_t pid, const std::string& socket = "", const std::string& group = "") {
  return {.pid = pid, .start_time = start, .boot_id = "b", .socket = socket, .group = group};
}

std::uint64_t micros(std::uint64_t ticks) {
  return ticks * 1'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
}
std::uint64_t bytes(std::uint64_t pages) {
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::vector<ProcessInfo> two_programs() {
  return {process(1, 0, 1, 1'000'000, 1'000'000),
          process(10, 2, 10, 1, 100),        // The first process of one of them.
          process(11, 10, 10, 20, 200),      // Its child, …
          process(12, 11, 12, 300, 300),     // … and a child of that in a session of its own.
          process(13, 1, 10, 4'000, 400),    // An orphan in the session, …
          process(14, 13, 14, 50'000, 500),  // … and its child.
          process(20, 2, 20, 7, 7)};
}

TEST(ProgramUses, SumDescendantsAndSession) {
  ProgramUses uses(two_programs());
  const auto first = uses.of(program(10), false);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->cpu_micros, micros(54'321));
  EXPECT_EQ(first->memory_bytes, bytes(1'500));
  const auto second = uses.of(program(20), false);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->cpu_micros, micros(7));
  EXPECT_EQ(second->memory_bytes, bytes(7));
}

TEST(ProgramUses, EndedProgramHasNone) {
  std::vector<ProcessInfo> all = two_programs();
  EXPECT_FALSE(ProgramUses(all).of(program(99), false));
  ProcessRecord earlier = program(10);
  earlier.start_time = start - 1;
  EXPECT_FALSE(ProgramUses(all).of(earlier, false)) << "another process has got its pid";
  all[1].state = 'Z';
  EXPECT_FALSE(ProgramUses(all).of(program(10), false));
  EXPECT_FALSE(ProgramUses({}).of(program(10), false)) << "the process table could not be read";
}

TEST(ProgramUses, CgroupKnowsBetter) {
  const Scratch scratch;
  const auto group = scratch.path() / "group";
  write_text(group / "cpu.stat", "usage_usec 123456\nuser_usec 100000\nsystem_usec 23456\n");
  write_text(group / "memory.current", "5000000\n");
  write_text(group / "memory.stat",
             "anon 1000000\nfile 4000000\ninactive_file 3000000\nactive_file 1000000\n");
  const auto use = ProgramUses(two_programs()).of(program(10, "", group.string()), false);
  ASSERT_TRUE(use);
  EXPECT_EQ(use->cpu_micros, 123'456U);
  EXPECT_EQ(use->memory_bytes, 2'000'000U) << "file cache that nothing uses is nobody's";
}

TEST(ProgramUses, CgroupWithoutMemoryLeavesItToTheProcesses) {
  const Scratch scratch;
  write_text(scratch.path() / "cpu.stat", "usage_usec 123456\n");
  const auto use = ProgramUses(two_programs()).of(program(10, "", scratch.path().string()), false);
  ASSERT_TRUE(use);
  EXPECT_EQ(use->cpu_micros, 123'456U);
  EXPECT_EQ(use->memory_bytes, bytes(1'500)) << "the kernel doesn't account memory of groups there";
}

TEST(ProgramUses, ContainerIsFoundByItsMark) {
  std::map<pid_t, int> asked;
  const std::map<pid_t, std::string> marks{
      {20, "/socket"}, {13, "/socket"}, {14, "/socket"}, {11, "spare-3"}};
  ProgramUses uses(two_programs(), [&](pid_t pid) -> std::optional<std::string> {
    ++asked[pid];
    const auto mark = marks.find(pid);
    return mark == marks.end() ? std::nullopt : std::optional(mark->second);
  });
  const auto use = uses.of(program(20, "/socket"), true);
  ASSERT_TRUE(use);
  EXPECT_EQ(use->cpu_micros, micros(54'000)) << "the runtime's client is not the program";
  EXPECT_EQ(use->memory_bytes, bytes(900));

  const auto unreadable = uses.of(program(10, "/other"), true);
  ASSERT_TRUE(unreadable);
  EXPECT_EQ(unreadable->cpu_micros, std::nullopt) << "it is unknown, not 0";
  EXPECT_EQ(unreadable->memory_bytes, std::nullopt);

  ProcessRecord spare = program(10, "/other");
  spare.mark = "HPSEARCH_ATTEMPT_MARK=spare-3";
  EXPECT_EQ(uses.of(spare, true)->cpu_micros, micros(20));
  EXPECT_EQ(asked.size(), two_programs().size());
  EXPECT_EQ(asked[13], 1) << "one reading serves all programs";
}

TEST(ProcessTable, HasTimeAndMemory) {
  const auto before = process_info(::getpid());
  ASSERT_TRUE(before);
  EXPECT_GT(before->resident_pages, 0U);
  while (process_info(::getpid())->cpu_ticks == before->cpu_ticks) {
  }
  const auto path = started_with_value(::getpid(), "PATH");
  ASSERT_TRUE(path);
  EXPECT_TRUE(started_with(::getpid(), "PATH=" + *path));
  EXPECT_FALSE(started_with_value(::getpid(), "PAT"));
}

}  // namespace
}  // namespace hpsearch::workers
