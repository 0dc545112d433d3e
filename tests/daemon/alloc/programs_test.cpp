#include "daemon/alloc/programs.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "scratch.hpp"

// Schedulers that are reached through three programs.

namespace hpsearch::daemon {
namespace {

using engine::AllocationEnd;
using Phase = Standing::Phase;
constexpr std::uint64_t cluster = 0xff;

std::string problem_with(const std::string& backend, engine::QueueSettings settings = {}) {
  const engine::Status fine = Programs(backend, cluster).check_settings(settings);
  return fine ? "" : fine.error().message;
}

JobOrder order_in(const std::string& directory) {
  JobOrder order;
  order.settings.arguments = {"-l", "gpu=1; rm"};
  order.settings.time_limit = engine::Duration::seconds(1'800);
  order.mark = {cluster, {"gpu", 3}, "0123"};
  order.directory = directory;
  order.worker = "/opt/hpsearch-worker";
  return order;
}

void write_program(const std::string& path, const std::string& text) {
  write_text(path, "#!/bin/sh\n" + text);
  ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
}

TEST(ProgramSets, AreFoundByNameOrDirectory) {
  EXPECT_EQ(problem_with("pbs"), "");
  EXPECT_EQ(
      problem_with("pbss"),
      "the backend is \"pbss\"; it must be slurm, kubernetes, kubernetes/NAMESPACE, pbs, lsf, gridengine, "
      "ray, or the path of a directory, from /, with the programs submit, status and cancel");
  EXPECT_EQ(problem_with("/nowhere"),
            "the backend is /nowhere, and /nowhere/submit is no program that the daemon can run");
  engine::QueueSettings two;
  two.workers = 2;
  EXPECT_EQ(problem_with("ray", two),
            "an allocation has 2 workers (workers-per-alloc); the backend ray runs one worker in each job");
}

TEST(ProgramStatus, NamesTheJobsOfThisClusterAndTheirStates) {
  const auto jobs = read_status(
      "17.server hpsearch.00000000000000ff.gpu.3.abc waiting  Not enough GPUs \n"
      "\n"
      "18.server another running\n"
      "19 hpsearch.00000000000000fe.gpu.3.abc running\n"
      "20 hpsearch.00000000000000ff.gpu.4.abd time_limit",
      cluster);
  ASSERT_TRUE(jobs) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 2U) << "another's jobs are none of ours";
  EXPECT_EQ((*jobs)[0].id, "17.server");
  EXPECT_EQ((*jobs)[0].key, "abc");
  EXPECT_EQ((*jobs)[0].reason, "Not enough GPUs");
  EXPECT_EQ((*jobs)[0].standing.phase, Phase::waits);
  EXPECT_EQ((*jobs)[1].standing.end, AllocationEnd::time_limit);
  EXPECT_FALSE((*jobs)[1].standing.processes_ended) << "nobody has said so";
}

TEST(ProgramStatus, WithAnUnknownStateIsAnErrorForAllJobs) {
  const auto jobs = read_status("17 hpsearch.00000000000000ff.gpu.3.abc runs\n", cluster);
  ASSERT_FALSE(jobs);
  EXPECT_EQ(
      jobs.error().message,
      "line 1 of status is \"17 hpsearch.00000000000000ff.gpu.3.abc runs\"; it must be ID NAME STATE "
      "[REASON], and the state one of waiting, will_not_start, running, other, completed, failed, canceled, "
      "time_limit, preempted, node_failed");
}

TEST(ProgramsInADirectory, AreRunWithTheJobAndItsVariables) {
  const Scratch directory;
  const std::string path = directory.path().string();
  write_program(
      path + "/submit",
      "printf '%s|' \"$@\" \"$HPSEARCH_JOB_NAME\" \"$HPSEARCH_TIME_LIMIT\" \"$HPSEARCH_OUTPUT\" > " + path +
          "/given\necho 17.server\n");
  write_program(path + "/status", "echo \"17.server $1gpu.3.0123 running\"\n");
  write_program(path + "/cancel", "echo \"no job $1\" >&2; exit 2\n");
  Programs programs(path, cluster);
  const JobSubmission submitted = programs.submit(order_in("/alloc/gpu/3"));
  EXPECT_EQ(submitted.outcome, JobSubmission::Outcome::taken) << submitted.problem;
  EXPECT_EQ(submitted.job, "17.server");
  EXPECT_EQ(
      text_of(path + "/given"),
      "/alloc/gpu/3/job.sh|-l|gpu=1; rm|hpsearch.00000000000000ff.gpu.3.0123|1800|/alloc/gpu/3/job.out|");
  const auto jobs = programs.list();
  ASSERT_TRUE(jobs && jobs->size() == 1);
  EXPECT_EQ(jobs->front().key, "0123");
  const auto canceled = programs.cancel("17.server");
  ASSERT_FALSE(canceled);
  EXPECT_EQ(canceled.error().message, "no job 17.server");
}

TEST(ProgramsInADirectory, SayWhatBecameOfASubmission) {
  const Scratch directory;
  const std::string path = directory.path().string();
  const auto outcome = [&path](const std::string& text) {
    write_program(path + "/submit", text);
    return Programs(path, cluster).submit(order_in("/alloc/gpu/3"));
  };
  EXPECT_EQ(outcome("echo no such queue >&2; exit 1\n").outcome, JobSubmission::Outcome::refused);
  EXPECT_EQ(outcome("kill -9 $$\n").outcome, JobSubmission::Outcome::unknown)
      << "it may have submitted the job before";
  const JobSubmission wordy = outcome("echo Your job 17 has been submitted\n");
  EXPECT_EQ(wordy.outcome, JobSubmission::Outcome::unknown) << "the job exists, and lists find it";
  EXPECT_EQ(wordy.problem,
            "submit printed \"Your job 17 has been submitted\"; it must print the id of the job, one word");
}

TEST(ProgramsInADirectory, ThatFailSayNothingAboutJobs) {
  const Scratch directory;
  write_program(directory.path().string() + "/status", "echo server is down >&2; exit 1\n");
  const auto jobs = Programs(directory.path().string(), cluster).list();
  ASSERT_FALSE(jobs);
  EXPECT_EQ(jobs.error().message, "server is down");
}

}  // namespace
}  // namespace hpsearch::daemon
