#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "daemon/alloc/programs.hpp"
#include "scratch.hpp"

// The sets of programs that are built in, with commands on PATH that print what the schedulers' documents
// show.

namespace hpsearch::daemon {
namespace {

using engine::AllocationEnd;
using Phase = Standing::Phase;

#define JOB "hpsearch.00000000000000ff.gpu."

/// Commands that stand for those of a scheduler, first on PATH while it lives.
class Commands {
 public:
  Commands() : path_(std::getenv("PATH")) {
    ::setenv("PATH", (scratch_.path().string() + ":" + path_).c_str(),
             1);  // NOLINT(concurrency-mt-unsafe): one thread.
  }
  ~Commands() { ::setenv("PATH", path_.c_str(), 1); }  // NOLINT(concurrency-mt-unsafe)
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  void add(const std::string& name, const std::string& body) {
    const std::string path = scratch_.path().string() + "/" + name;
    write_text(path, "#!/bin/sh\n" + body + "\n");
    ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
  }
  void prints(const std::string& name, const std::string& text) {
    add(name, "cat << 'END'\n" + text + "\nEND");
  }
  /// The arguments with which the command was called last, each between bars.
  [[nodiscard]] std::string call_of(const std::string& name) const {
    return text_of(scratch_.path().string() + "/" + name + ".call");
  }
  void records(const std::string& name, const std::string& answer) {
    add(name,
        "printf '|%s' \"$@\" > " + scratch_.path().string() + "/" + name + ".call\necho '" + answer + "'");
  }

 private:
  Scratch scratch_;
  std::string path_;
};

/// ID, state and reason of each job, and how it stands.
using Seen = std::vector<std::pair<std::string, std::string>>;
Seen jobs_of(const std::string& set) {
  const auto jobs = Programs(set, 0xff).list();
  if (!jobs) {
    return {{"error", jobs.error().message}};
  }
  Seen seen;
  for (const BackendJob& job : *jobs) {
    seen.emplace_back(job.id, job.state + (job.reason.empty() ? "" : ": " + job.reason));
  }
  return seen;
}

JobSubmission submitted(const std::string& set) {
  JobOrder order;
  order.settings.arguments = {"-q", "gpu"};
  order.settings.time_limit = engine::Duration::seconds(5'400);
  order.mark = {0xff, {"gpu", 3}, "a1"};
  order.directory = "/alloc/gpu/3";
  return Programs(set, 0xff).submit(order);
}

TEST(Pbs, SubmitsWithItsOptions) {
  Commands commands;
  commands.records("qsub", "17.server");
  EXPECT_EQ(submitted("pbs").job, "17.server");
  EXPECT_EQ(commands.call_of("qsub"),
            "|-N|" JOB
            "3.a1|-l|walltime=1:30:00|-r|n|-j|oe|-o|/alloc/gpu/3/job.out|-V|-q|gpu|/"
            "alloc/gpu/3/job.sh");
}

TEST(Pbs, StatesAreReadFromItsLongList) {
  Commands commands;
  commands.prints("qselect", "1.server\n2.server");
  commands.prints("qstat",
                  "Job Id: 1.server\n"
                  "    Job_Name = hpsearch.00000000000000\n\tff.gpu.3.a1\n"
                  "    job_state = Q\n"
                  "    comment = Not Running: Insufficient amount of resource: \n\tngpus\n"
                  "\n"
                  "Job Id: 2.server\n    Job_Name = " JOB
                  "4.a2\n    job_state = Q\n    comment = Can Never Run: no such node\n\n"
                  "Job Id: 3.server\n    Job_Name = " JOB
                  "5.a3\n    job_state = R\n    comment = Job run at Mon\n\n"
                  "Job Id: 4.server\n    Job_Name = " JOB
                  "6.a4\n    job_state = F\n    Exit_status = 0\n\n"
                  "Job Id: 5.server\n    Job_Name = " JOB
                  "7.a5\n    job_state = F\n    Exit_status = 271\n\n"
                  "Job Id: 6.server\n    Job_Name = " JOB
                  "8.a6\n    job_state = F\n    Exit_status = -29\n\n"
                  "Job Id: 7.server\n    Job_Name = " JOB "9.a7\n    job_state = E\n");
  EXPECT_EQ(jobs_of("pbs"),
            (Seen{{"1.server", "waiting: Not Running: Insufficient amount of resource: ngpus"},
                  {"2.server", "will_not_start: Can Never Run: no such node"},
                  {"3.server", "running: Job run at Mon"},
                  {"4.server", "completed: exit status 0"},
                  {"5.server", "canceled: exit status 271"},
                  {"6.server", "time_limit: exit status -29"},
                  {"7.server", "other"}}));
}

TEST(Pbs, ServersThatAreAwayAreAnError) {
  Commands commands;
  commands.add("qselect", "echo cannot connect to server >&2; exit 1");
  EXPECT_EQ(jobs_of("pbs"), (Seen{{"error", "cannot connect to server"}}));
}

TEST(Lsf, SubmitsWithItsOptions) {
  Commands commands;
  commands.records("bsub", "Job <17> is submitted to queue <gpu>.");
  EXPECT_EQ(submitted("lsf").job, "17");
  EXPECT_EQ(commands.call_of("bsub"),
            "|-J|" JOB "3.a1|-W|90|-rn|-o|/alloc/gpu/3/job.out|-q|gpu|bash|/alloc/gpu/3/job.sh");
}

TEST(Lsf, StatesAreReadFromItsList) {
  Commands commands;
  commands.prints("bjobs", "1|PEND|" JOB "3.a1|-|Job slot limit reached;\n2|RUN|" JOB "4.a2|-|-\n3|DONE|" JOB
                           "5.a3|-|-\n"
                           "4|EXIT|" JOB
                           "6.a4|TERM_RUNLIMIT: job killed after reaching LSF run time limit|-\n"
                           "5|EXIT|" JOB "7.a5|TERM_OWNER: job killed by owner|-\n6|EXIT|" JOB
                           "8.a6|-|-\n7|SSUSP|" JOB "9.a7|-|-");
  EXPECT_EQ(jobs_of("lsf"),
            (Seen{{"1", "waiting: Job slot limit reached;"},
                  {"2", "running"},
                  {"3", "completed"},
                  {"4", "time_limit: TERM_RUNLIMIT: job killed after reaching LSF run time limit"},
                  {"5", "canceled: TERM_OWNER: job killed by owner"},
                  {"6", "failed"},
                  {"7", "other"}}));
}

TEST(Lsf, ItsErrorForNoJobsIsAnEmptyList) {
  Commands commands;
  commands.add("bjobs", "echo No job found >&2; exit 255");
  EXPECT_EQ(jobs_of("lsf"), Seen{});
  commands.add("bjobs", "echo LSF is down >&2; exit 255");
  EXPECT_EQ(jobs_of("lsf"), (Seen{{"error", "LSF is down"}}));
}

TEST(GridEngine, SubmitsWithItsOptions) {
  Commands commands;
  commands.records("qsub", "17");
  EXPECT_EQ(submitted("gridengine").job, "17");
  EXPECT_EQ(commands.call_of("qsub"),
            "|-terse|-N|" JOB
            "3.a1|-l|h_rt=5400|-notify|-r|n|-j|y|-o|/alloc/gpu/3/job.out|-S|/bin/bash|-"
            "V|-q|gpu|/alloc/gpu/3/job.sh");
}

}  // namespace
}  // namespace hpsearch::daemon
