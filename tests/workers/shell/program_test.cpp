// Programs that can't start, their output, and the worker around them.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "hpsearch/workers/core/spool.hpp"
#include "workers/shell/programs.hpp"
#include "workers/shell/transfer/file_trees.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::AttemptKey;
using engine::Directive;
using engine::Duration;
using engine::ExitReport;
using engine::MetricsReport;
using jobs::LaunchSpec;
using Cause = engine::ExitReport::Cause;

// --- programs that can't start ---

TEST_F(Programs, MissingProgramIsNamed) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, {std::vector<std::string>{"no-such-trainer", "x"}}));
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::could_not_start);
  EXPECT_NE(exit.message.find("no program no-such-trainer on PATH"), std::string::npos) << exit.message;
  EXPECT_TRUE(daemon_.started.empty());
}

TEST_F(Programs, MissingProgramInAShellIsReportedAsNotFound) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, shell("no-such-trainer --lr {lr}")));
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.code, 127);
  EXPECT_NE(exit.log_tail.find("no-such-trainer"), std::string::npos) << exit.log_tail;
}

TEST_F(Programs, WithoutTheirContextDirectoryDoNotStart) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, shell("true"));
  spec.context_directory = (scratch_.path() / "gone").string();
  lease(spec);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::could_not_start);
  EXPECT_NE(exit.message.find(spec.context_directory), std::string::npos) << exit.message;
}

TEST_F(Programs, NonexecutableFileIsNamed) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, {std::vector<std::string>{"./train"}});
  write_text(scratch_.path() / "context/train", "not a program");
  spec.context_directory = (scratch_.path() / "context").string();
  lease(spec);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::could_not_start);
  EXPECT_NE(exit.message.find("./train"), std::string::npos) << exit.message;
}

// --- logs ---

// A dead shim would end its program, too, so killing it first would gain nothing.
TEST_F(Programs, AreKilledForMemoryBeforeTheirShims) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, shell("cat /proc/self/oom_score_adj /proc/$PPID/oom_score_adj")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  const int ours = std::stoi(text_of("/proc/self/oom_score_adj"));
  EXPECT_EQ(read_log(key, "stdout").text,
            std::to_string(std::min(ours + 100, 1000)) + "\n" + std::to_string(ours) + "\n");
}

TEST_F(Programs, MayPrintForever) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, shell("head -c 20000000 /dev/zero | tr '\\0' x; echo; echo end")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  const proto::LogPart tail = read_log(key, "stdout", 0, 100, true);
  EXPECT_EQ(tail.size, 20'000'005U);
  EXPECT_EQ(tail.offset, 20'000'005U - 100);
  EXPECT_TRUE(tail.text.ends_with("x\nend\n"));
  EXPECT_LE(read_log(key, "stdout", 0, 10'000'000).text.size(), 128U * 1024);
}

TEST_F(Programs, LogsAreReadWhileTheyRunAndAfterwards) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(
      key,
      shell(
          R"(printf 'one\ntw\303\251\n'; echo oops >&2; echo 'HPSEARCH {{"step":1,"acc":0}}'; exec sleep 1000)")));
  wait_for_reports(key, 1);
  EXPECT_EQ(read_log(key, "stdout", 4, 3).text, "tw") << "no half characters";
  EXPECT_EQ(read_log(key, "stderr").text, "oops\n");
  decide(key, 50, Directive::kill);
  daemon_.wait_for_exit(key);
  daemon_.until("the work directory is gone", [&] { return !fs::exists(directory_of(key) / "work"); });
  EXPECT_EQ(read_log(key, "stdout", 0, 4).text, "one\n");
  EXPECT_FALSE(read_log(key_of(9), "stdout").problem.empty());
  EXPECT_FALSE(read_log(key, "elsewhere").problem.empty());
}

// --- the worker ---

TEST_F(Programs, ContinueDuringAnOutageOfTheDaemon) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(
      key, shell(R"(echo 'HPSEARCH {{"step":1,"acc":0}}'; until [ -e ../output/go ]; do sleep 0.01; done; )"
                 R"(echo 'HPSEARCH {{"step":2,"acc":0}}'; exit 5)")));
  wait_for_reports(key, 1);
  daemon_.close();
  write_text(directory_of(key) / "output/go", "");
  daemon_.until("its exit report is in the spool", [&] {
    const auto text = state_->attempt(key).read("spool", 1U << 20U);
    const auto spooled = text ? read_spool(*text) : engine::Result<SpooledAttempt>(text.error());
    return spooled && spooled->state.acked + spooled->reports.size() == 3;
  });
  daemon_.reopen();
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 5);
  EXPECT_EQ(daemon_.reports(key).size(), 3U);
  ASSERT_GE(daemon_.hellos.size(), 2U);
  ASSERT_EQ(daemon_.hellos.back().held.size(), 1U);
  EXPECT_EQ(daemon_.hellos.back().held[0].last_seq, 3U);
}

TEST_F(Programs, ReportOnAShortSocketIfTheStateDirectoryIsDeep) {
  fs::path deep = scratch_.path();
  for (int i = 0; i < 10; ++i) {
    deep /= "a-directory-with-a-long-name";
  }
  begin(Duration::seconds(30), deep);
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python("print(len(os.environ['HPSEARCH_SOCKET']) < 108)")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  EXPECT_EQ(read_log(key, "stdout").text, "True\n");
}

TEST_F(Programs, FourAtATimeReportIndependently) {
  begin();
  for (std::uint64_t trial = 0; trial < 4; ++trial) {
    LaunchSpec spec = spec_of(key_of(trial), python(R"(
trial = int(os.environ["HPSEARCH_TRIAL_NUMBER"])
for step in range(1, 4):
    say(type="report", step=step, metrics={"acc": trial})
)"));
    spec.slots = {engine::SlotIndex{trial}};
    lease(spec);
  }
  for (std::uint64_t trial = 0; trial < 4; ++trial) {
    wait_for_reports(key_of(trial), 3);
    decide(key_of(trial), 70 + trial, Directive::stop);
  }
  for (std::uint64_t trial = 0; trial < 4; ++trial) {
    EXPECT_EQ(daemon_.wait_for_exit(key_of(trial)).code, 0);
    for (const MetricsReport& report : daemon_.reports_of<MetricsReport>(key_of(trial))) {
      EXPECT_EQ(report.metrics[0].second, static_cast<double>(trial));
    }
  }
}

}  // namespace
}  // namespace hpsearch::workers::test
