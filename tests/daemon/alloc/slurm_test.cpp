#include "daemon/alloc/slurm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

// Commands for Slurm and its answers, as texts.

namespace hpsearch::daemon::slurm {
namespace {

using engine::AllocationEnd;
using Phase = Standing::Phase;

TEST(SlurmArguments, OptionsOfTheQueueAreRefusedWithTheirNames) {
  EXPECT_TRUE(
      check_arguments({"-p", "gpu", "-A", "acct", "--gres=gpu:4", "-c", "32", "a word; with 'quotes'"}));
  const auto refused = [](const std::string& word) {
    const auto checked = check_arguments({"-p", "gpu", word});
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(refused("--time=5"),
            "the argument --time for sbatch is set by the queue itself; use --time-limit");
  EXPECT_EQ(refused("-t5"), "the argument -t for sbatch is set by the queue itself; use --time-limit");
  EXPECT_EQ(refused("--array=1-5"),
            "the argument --array for sbatch is set by the queue itself; leave it out");
  EXPECT_EQ(refused("-N2"), "the argument -N for sbatch is set by the queue itself; use --workers-per-alloc");
  EXPECT_EQ(refused("--time-min=5"), "") << "it only begins like one";
}

TEST(SlurmJobs, AreReadFromTheListIfTheyAreOfThisCluster) {
  const std::string_view text =
      "17|RUNNING|hpsearch/00000000000000ff/gpu/3/abc|None\n18|PENDING|(null)|Priority\nnonsense\n"
      "19|PENDING|hpsearch/00000000000000ff/gpu/4/abd|Priority\n"
      "20|PENDING|hpsearch/00000000000000fe/gpu/4/abd|Priority\n"
      "21|FAILED|hpsearch/00000000000000ff/gpu/5/abe|NonZeroExitCode\n";
  const auto jobs = read_jobs(text, 0xff);
  ASSERT_EQ(jobs.size(), 3U) << "one has no mark, one is of another daemon's store";
  EXPECT_EQ(jobs[0].id, "17");
  EXPECT_EQ(jobs[0].key, "abc");
  EXPECT_EQ(jobs[0].reason, "");
  EXPECT_EQ(jobs[1].reason, "Priority");
  EXPECT_EQ(jobs[2].reason, "") << "only of jobs that wait";
}

TEST(SlurmStates, SayWhatBecameOfTheAllocation) {
  const auto standing = [](const char* state, const char* reason = "None") {
    return standing_of(state, reason);
  };
  EXPECT_EQ(standing("PENDING", "Priority").phase, Phase::waits);
  EXPECT_FALSE(standing("PENDING", "Priority").will_not_start);
  EXPECT_FALSE(standing("PENDING", "AssocGrpCpuLimit").will_not_start) << "others of the group end";
  for (const char* reason :
       {"PartitionTimeLimit", "BadConstraints", "QOSMaxNodePerJobLimit", "JobHeldAdmin"}) {
    EXPECT_TRUE(standing("PENDING", reason).will_not_start) << reason;
  }
  EXPECT_EQ(standing("RUNNING").phase, Phase::runs);
  for (const char* state : {"COMPLETING", "SUSPENDED", "A_STATE_OF_LATER_RELEASES"}) {
    EXPECT_EQ(standing(state).phase, Phase::unclear) << state;
  }
  EXPECT_EQ(standing("TIMEOUT").end, AllocationEnd::time_limit);
  EXPECT_TRUE(standing("PREEMPTED").processes_ended);
  EXPECT_EQ(standing("NODE_FAIL").end, AllocationEnd::node_failed);
  EXPECT_FALSE(standing("NODE_FAIL").processes_ended) << "the step may live on";
  EXPECT_EQ(standing("CANCELLED").end, AllocationEnd::canceled_there);
}

TEST(SlurmPartition, LimitsBelowThoseOfTheQueueAreNamed) {
  const std::string text =
      "PartitionName=main AllowGroups=ALL Default=YES MaxNodes=UNLIMITED MaxTime=UNLIMITED State=UP\n"
      "PartitionName=short AllowGroups=ALL Default=NO MaxNodes=1 MaxTime=00:10:00 State=DRAIN\n";
  engine::QueueSettings settings;
  settings.time_limit = engine::Duration::seconds(1'800);
  EXPECT_TRUE(problems_with_partition(text, settings).empty()) << "the default one";
  settings.arguments = {"-p", "short"};
  settings.workers = 2;
  const auto problems = problems_with_partition(text, settings);
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_EQ(
      problems[0],
      "partition short runs jobs for at most 00:10:00, and this one asks for 0-00:30:00 (--time-limit); it "
      "would wait for ever");
}

JobOrder order_of(engine::QueueSettings settings, std::uint64_t workers = 1) {
  return {.settings = std::move(settings),
          .workers = workers,
          .mark = {0xff, {"gpu", 3}, "0123"},
          .directory = "/home/a b/alloc/gpu/3",
          .worker = "/opt/hpsearch-worker",
          .daemon = "tcp://login:8078",
          .needs_invite = true};
}

/// The text of a file of the job.
std::string file_of(const JobOrder& order, const std::string& name) {
  for (const JobFile& file : Slurm(0xff).files_of(order)) {
    if (file.name == name) {
      return file.text;
    }
  }
  return "";
}

TEST(SlurmScripts, QuoteWhatUsersWrote) {
  engine::QueueSettings settings;
  settings.labels = {{"zone", "b'; rm -rf ~; '"}};
  settings.before = "module load cuda";
  const std::string worker = file_of(order_of(settings), "worker.sh");
  EXPECT_NE(worker.find(R"(--label 'zone=b'\''; rm -rf ~; '\''')"), std::string::npos) << worker;
  EXPECT_NE(worker.find("join '@/home/a b/alloc/gpu/3/invite'"), std::string::npos) << worker;
  EXPECT_NE(worker.find("module load cuda || exit 1"), std::string::npos);
  EXPECT_NE(worker.find("--alloc gpu/3"), std::string::npos);
  EXPECT_NE(worker.find("--time-limit 28800"), std::string::npos);
  EXPECT_NE(worker.find("--give-back 180"), std::string::npos);
  EXPECT_NE(worker.find("--ends-from slurm"), std::string::npos);
  EXPECT_NE(worker.find("--name gpu-3 "), std::string::npos);
  const JobOrder two = order_of(settings, 2);
  EXPECT_NE(file_of(two, "worker.sh").find("--name gpu-3-\"$SLURM_PROCID\""), std::string::npos)
      << "two workers of one allocation have two names";
  const std::string job = file_of(two, "job.sh");
  EXPECT_NE(job.find("--ntasks=2"), std::string::npos);
  EXPECT_NE(job.find("bash '/home/a b/alloc/gpu/3/worker.sh'"), std::string::npos) << job;
}

TEST(SlurmSubmission, PassesTheArgumentsAsWords) {
  engine::QueueSettings settings;
  settings.arguments = {"-p", "gpu", "--constraint=a b"};
  const auto words = submission(order_of(settings, 2));
  EXPECT_NE(std::find(words.begin(), words.end(), "--comment=hpsearch/00000000000000ff/gpu/3/0123"),
            words.end());
  EXPECT_EQ(words.front(), "sbatch");
  EXPECT_EQ(words.back(), "/home/a b/alloc/gpu/3/job.sh");
  EXPECT_EQ(words[words.size() - 2], "--constraint=a b");
  EXPECT_EQ(time_text(engine::Duration::seconds(90'061)), "1-01:01:01");
}

}  // namespace
}  // namespace hpsearch::daemon::slurm
