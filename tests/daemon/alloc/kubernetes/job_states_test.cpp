#include "daemon/alloc/kubernetes/job_states.hpp"

#include <gtest/gtest.h>

#include <string>

#include "hpsearch/proto/encoding/json.hpp"

// Reads from lists of Jobs, pods and events how allocations stand.

namespace hpsearch::daemon::kubernetes {
namespace {

using engine::AllocationEnd;
using engine::Value;
using Phase = Standing::Phase;

Value::List items(const std::string& json) {
  return *proto::parse_json("[" + json + "]").value().as_list();
}

std::string job(const std::string& status = "{}", const std::string& spec = R"({"completions": 1})",
                const std::string& more = "") {
  return R"({"metadata": {"name": "j", "uid": "u", "annotations": {"hpsearch/key": "cafe"})" + more +
         R"(}, "spec": )" + spec + R"(, "status": )" + status + "}";
}

std::string pod(const std::string& status) {
  return R"({"metadata": {"name": "j-0", "uid": "p", "ownerReferences": [{"kind": "Job", "name": "j", "uid": "u"}]}, "status": )" +
         status + "}";
}

BackendJob read(const std::string& one_job, const std::string& pods = "", const std::string& events = "") {
  const auto jobs = read_jobs({items(one_job), items(pods), items(events)});
  BackendJob none;
  none.state = "no Job";
  return jobs.size() == 1 ? jobs.front() : none;
}

std::string waiting(const std::string& reason, const std::string& message = "") {
  return pod(R"({"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": ")" + reason +
             R"(", "message": ")" + message + R"("}}}]})");
}

const std::string complete = R"({"conditions": [{"type": "Complete", "status": "True"}]})";
const std::string failed =
    R"({"conditions": [{"type": "Failed", "status": "True", "reason": "FailedIndexes", "message": "Job has failed indexes"}]})";

std::string ended_pod(const std::string& phase, int code, const std::string& reason = "Completed",
                      const std::string& more = "") {
  return pod(R"({"phase": ")" + phase + R"(", "containerStatuses": [{"state": {"terminated": {"exitCode": )" +
             std::to_string(code) + R"(, "reason": ")" + reason + R"("}}}])" + more + "}");
}

TEST(KubernetesJobs, AreThoseWithAKey) {
  EXPECT_EQ(read(job()).id, "j");
  EXPECT_EQ(read(job()).key, "cafe");
  EXPECT_EQ(read(R"({"metadata": {"name": "j"}})").state, "no Job");
  for (const char* hostile : {"{}", "5", "null", R"({"metadata": 5, "status": []})",
                              R"({"metadata": {"name": "j", "annotations": {"hpsearch/key": 5}}})"}) {
    EXPECT_EQ(read(hostile).state, "no Job") << hostile;
  }
  EXPECT_EQ(read(job("[]", "[]"), "5, {\"status\": {\"conditions\": 5}}", "7").standing.phase, Phase::waits);
}

TEST(KubernetesJobs, WaitForNodes) {
  const BackendJob waits =
      read(job(), pod(R"({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                     "reason": "Unschedulable", "message": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."}]})"));
  EXPECT_EQ(waits.standing.phase, Phase::waits);
  EXPECT_FALSE(waits.standing.will_not_start) << "an autoscaler may add nodes";
  EXPECT_EQ(waits.reason, "Unschedulable: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.");
  EXPECT_EQ(read(job("{}", R"({"suspend": true})")).reason, "Suspended");
}

TEST(KubernetesJobs, WithAnImageThatIsNotThereNeverStart) {
  const auto never = [](const char* reason, const char* message = "") {
    return read(job(), waiting(reason, message)).standing.will_not_start;
  };
  for (const char* reason : {"InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError",
                             "ImagePullBackOff", "ErrImagePull"}) {
    EXPECT_TRUE(never(reason)) << reason;
  }
  EXPECT_TRUE(never("ErrImagePull", "failed to resolve train:9: not found"));
  EXPECT_FALSE(never("ErrImagePull", "dial tcp 10.0.0.1:443: connection refused"))
      << "the registry comes back";
  EXPECT_FALSE(never("ImagePullBackOff", "429 Too Many Requests")) << "and takes more later";
  EXPECT_FALSE(never("ContainerCreating"));
  EXPECT_FALSE(never("PodInitializing"));
  EXPECT_EQ(read(job(), waiting("ImagePullBackOff", "Back-off pulling image")).reason,
            "ImagePullBackOff: Back-off pulling image");
}

TEST(KubernetesJobs, WithoutAPodSayWhy) {
  const auto event = [](const std::string& message, const std::string& at = "2026-01-01T00:00:00Z") {
    return R"({"involvedObject": {"uid": "u"}, "reason": "FailedCreate", "lastTimestamp": ")" + at +
           R"(", "message": ")" + message + R"("})";
  };
  const BackendJob quota =
      read(job(), "", event("pods \\\"j\\\" is forbidden: exceeded quota: team, requested: cpu=8"));
  EXPECT_FALSE(quota.standing.will_not_start) << "other pods of the team end";
  EXPECT_EQ(quota.reason, "FailedCreate: pods \"j\" is forbidden: exceeded quota: team, requested: cpu=8");
  EXPECT_TRUE(
      read(job(), "", event("pods \\\"j\\\" is forbidden: violates PodSecurity")).standing.will_not_start);
  EXPECT_FALSE(read(job(), "", event("timeout")).standing.will_not_start);
  EXPECT_EQ(read(job(), "", event("new", "2026-01-01T00:00:02Z") + "," + event("old")).reason,
            "FailedCreate: new");
  EXPECT_EQ(
      read(job(), "", R"({"involvedObject": {"uid": "v"}, "reason": "FailedCreate", "message": "m"})").reason,
      "");
  EXPECT_TRUE(needs_events({items(job()), {}, {}}));
  EXPECT_FALSE(needs_events({items(job()), items(pod(R"({"phase": "Running"})")), {}}));
  EXPECT_FALSE(needs_events({items(job(complete)), {}, {}}));
}

TEST(KubernetesJobs, SayWhichVolumeIsMissing) {
  EXPECT_TRUE(needs_events({items(job()), items(waiting("ContainerCreating")), {}}));
  EXPECT_EQ(
      read(
          job(), waiting("ContainerCreating"),
          R"({"involvedObject": {"uid": "p"}, "reason": "FailedMount", "message": "secret \"s\" not found"})")
          .reason,
      "ContainerCreating: secret \"s\" not found");
}

TEST(KubernetesJobs, RunWithTheFirstPod) {
  EXPECT_EQ(read(job("{}", R"({"completions": 2})"),
                 pod(R"({"phase": "Running"})") + "," + waiting("ContainerCreating"))
                .standing.phase,
            Phase::runs);
  EXPECT_EQ(read(job("{}", "{}", R"(, "deletionTimestamp": "2026-01-01T00:00:00Z")"),
                 pod(R"({"phase": "Running"})"))
                .standing.phase,
            Phase::unclear)
      << "its pods end";
  EXPECT_EQ(read(job(), pod(R"({"phase": "Succeeded"})")).standing.phase, Phase::unclear);
}

TEST(KubernetesJobs, EndAsTheirPodsDid) {
  const auto end = [](const std::string& one_job, const std::string& pods) {
    const BackendJob ended = read(one_job, pods);
    EXPECT_EQ(ended.standing.phase, Phase::ended);
    return std::pair(ended.standing.end, ended.reason);
  };
  using End = std::pair<AllocationEnd, std::string>;
  EXPECT_EQ(end(job(complete), ended_pod("Succeeded", 0)), End(AllocationEnd::completed, ""));
  EXPECT_EQ(end(job(failed), ended_pod("Failed", 137, "OOMKilled")),
            End(AllocationEnd::failed, "OOMKilled, exit code 137"));
  EXPECT_EQ(end(job(failed), pod(R"({"phase": "Failed", "reason": "DeadlineExceeded"})")),
            End(AllocationEnd::time_limit, "DeadlineExceeded"));
  EXPECT_EQ(end(job(failed), pod(R"({"phase": "Failed", "reason": "Evicted", "message": "low on memory"})")),
            End(AllocationEnd::preempted, "Evicted: low on memory"));
  EXPECT_EQ(end(job(failed), ""), End(AllocationEnd::preempted, "its pods were deleted"));
  EXPECT_EQ(
      end(job(R"({"conditions": [{"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}]})"), ""),
      End(AllocationEnd::time_limit, "DeadlineExceeded"));
  const auto disrupted = [](const std::string& reason) {
    return ended_pod(
        "Failed", 143, "Error",
        R"(, "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": ")" + reason + R"("}])");
  };
  for (const char* reason : {"PreemptionByScheduler", "EvictionByEvictionAPI", "TerminationByKubelet"}) {
    EXPECT_EQ(end(job(failed), disrupted(reason)), End(AllocationEnd::preempted, reason));
  }
  for (const char* reason : {"DeletionByTaintManager", "DeletionByPodGC"}) {
    EXPECT_EQ(end(job(failed), disrupted(reason)), End(AllocationEnd::node_failed, reason));
  }
  EXPECT_EQ(end(job(failed), ended_pod("Failed", 1) + "," + disrupted("PreemptionByScheduler")).first,
            AllocationEnd::preempted)
      << "the program of the other pod is not at fault";
}

TEST(KubernetesJobs, ProveTheEndOfProcessesOnlyByEachContainer) {
  EXPECT_TRUE(read(job(complete), ended_pod("Succeeded", 0)).standing.processes_ended);
  EXPECT_FALSE(read(job(complete), "").standing.processes_ended) << "no pod is there to say so";
  EXPECT_FALSE(read(job(failed, R"({"completions": 2})"), ended_pod("Failed", 1)).standing.processes_ended)
      << "the other pod is not there";
  EXPECT_FALSE(read(job(failed), ended_pod("Failed", 137, "ContainerStatusUnknown")).standing.processes_ended)
      << "the kubelet did not see its end";
  EXPECT_FALSE(
      read(job(failed), pod(R"({"phase": "Failed", "containerStatuses": [{"state": {"running": {}}}]})"))
          .standing.processes_ended)
      << "its node was lost";
  EXPECT_FALSE(
      read(job(failed), pod(R"({"phase": "Failed", "reason": "Evicted"})")).standing.processes_ended);
}

}  // namespace
}  // namespace hpsearch::daemon::kubernetes
