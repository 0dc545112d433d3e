#include "daemon/alloc/kubernetes/job_manifest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "scratch.hpp"

// Jobs and Secrets of allocations on Kubernetes.

namespace hpsearch::daemon::kubernetes {
namespace {

using engine::Value;

JobOrder order_of(std::uint64_t workers = 1) {
  JobOrder order;
  order.settings.time_limit = engine::Duration::seconds(3'600);
  order.settings.give_back = engine::Duration::seconds(120);
  order.workers = workers;
  order.mark = {0x0123456789abcdefU, {"gpu", 17}, "cafe"};
  order.daemon = "tcp://hpsearch:8078";
  order.needs_invite = true;
  return order;
}

Value job_of(const JobOrder& order, std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.end(), {"--image", "train:3"});
  return job_manifest(order, read_pod_request(arguments).value());
}

std::string json_at(const Value& value, std::string_view path) {
  const Value* found = value.at_path(path);
  return found == nullptr ? "" : engine::compact_json(*found);
}

Value container_of(const Value& job) {
  return job.at_path("spec.template.spec.containers")->as_list()->front();
}

std::vector<std::string> arguments_of(const Value& job) {
  std::vector<std::string> words;
  const Value container = container_of(job);
  for (const Value& word : *container.at_path("args")->as_list()) {
    words.push_back(*word.as_text());
  }
  return words;
}

TEST(JobName, IsALabelOfDnsWhateverTheQueueIsCalled) {
  EXPECT_EQ(job_name(order_of().mark), "hpsearch-gpu-17-01234567");
  const JobMark longest{~std::uint64_t{0}, {std::string(23, 'q') + std::string(40, '-'), 9'999'999'999U}, ""};
  const std::string name = job_name(longest);
  EXPECT_EQ(name, "hpsearch-" + std::string(23, 'q') + "-9999999999-ffffffff");
  EXPECT_LE(name.size() + std::string("-99999").size(), 63U) << "pods add their index";
}

TEST(JobManifest, RunsEachWorkerOnceAndKeepsTheOthers) {
  const Value job = job_of(order_of(4));
  EXPECT_EQ(json_at(job, "spec.completionMode"), "\"Indexed\"");
  EXPECT_EQ(json_at(job, "spec.completions"), "4");
  EXPECT_EQ(json_at(job, "spec.parallelism"), "4");
  EXPECT_EQ(json_at(job, "spec.backoffLimitPerIndex"), "0") << "a pod that has ended is never replaced";
  EXPECT_EQ(json_at(job, "spec.backoffLimit"), "") << "one lost pod would end the others";
  EXPECT_EQ(json_at(job, "spec.podReplacementPolicy"), "\"Failed\"");
  EXPECT_EQ(json_at(job, "spec.template.spec.restartPolicy"), "\"Never\"");
  EXPECT_EQ(json_at(job, "spec.ttlSecondsAfterFinished"), "300");
}

TEST(JobManifest, CarriesWhatFindsItAgain) {
  const Value job = job_of(order_of());
  const std::string labels =
      R"({"app.kubernetes.io/managed-by":"hpsearch","hpsearch/cluster":"0123456789abcdef","hpsearch/queue":"gpu"})";
  EXPECT_EQ(json_at(job, "metadata.labels"), labels);
  EXPECT_EQ(json_at(job, "spec.template.metadata.labels"), labels) << "pods are listed by them, too";
  EXPECT_EQ(json_at(job, "metadata.annotations"),
            R"({"hpsearch/allocation":"gpu/17","hpsearch/key":"cafe"})");
  EXPECT_EQ(label_selector(0xff), "app.kubernetes.io/managed-by=hpsearch,hpsearch/cluster=00000000000000ff");
}

TEST(JobManifest, GivesAPodTimeToGiveItsTrialsBack) {
  const Value job = job_of(order_of());
  EXPECT_EQ(json_at(job, "spec.template.spec.terminationGracePeriodSeconds"), "150");
  EXPECT_EQ(json_at(job, "spec.template.spec.activeDeadlineSeconds"), "4500")
      << "the worker ends at its limit; the deadline counts from before the image was pulled";
  EXPECT_EQ(json_at(job, "spec.activeDeadlineSeconds"), "")
      << "it would count while the pod waits for a node";
  const auto words = arguments_of(job);
  const auto stop = std::find(words.begin(), words.end(), "--stop-within");
  ASSERT_NE(stop, words.end());
  EXPECT_EQ(stop[1], "120");
}

TEST(JobManifest, StartsAWorkerThatJoinsWithTheInviteInAFile) {
  const Value job = job_of(order_of(2), {"--worker", "/opt/bin/hpsearch-worker"});
  EXPECT_EQ(json_at(container_of(job), "command"), R"(["/opt/bin/hpsearch-worker"])");
  const auto words = arguments_of(job);
  EXPECT_EQ(words[0], "join");
  EXPECT_EQ(words[1], "@/run/hpsearch/invite");
  EXPECT_EQ(words.back(), "gpu-17-$(JOB_COMPLETION_INDEX)");
  EXPECT_EQ(arguments_of(job_of(order_of())).back(), "gpu-17");
  EXPECT_NE(json_at(job, "spec.template.spec.volumes")
                .find("{\"defaultMode\":288,\"secretName\":\"hpsearch-gpu-17-01234567\"}"),
            std::string::npos)
      << "0440: the group of the pod reads it";
  JobOrder open = order_of();
  open.needs_invite = false;
  EXPECT_EQ(arguments_of(job_of(open))[0], "--daemon");
  EXPECT_EQ(json_at(job_of(open), "spec.template.spec.volumes").find("secret"), std::string::npos);
}

TEST(JobManifest, ExpandsNoVariableOfItsUser) {
  JobOrder order = order_of();
  order.settings.labels = {{"price", "$(HOME)$5"}};
  const auto words = arguments_of(job_of(order));
  EXPECT_NE(std::find(words.begin(), words.end(), "price=$$(HOME)$$5"), words.end());
}

TEST(JobManifest, IsAsRestrictedAsItCanBe) {
  const Value job = job_of(order_of());
  const Value container = container_of(job);
  EXPECT_EQ(json_at(job, "spec.template.spec.automountServiceAccountToken"), "false");
  EXPECT_EQ(
      json_at(job, "spec.template.spec.securityContext"),
      R"({"fsGroup":1000,"runAsGroup":1000,"runAsNonRoot":true,"runAsUser":1000,"seccompProfile":{"type":"RuntimeDefault"}})");
  EXPECT_EQ(
      json_at(container, "securityContext"),
      R"({"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"readOnlyRootFilesystem":true})");
  EXPECT_EQ(
      json_at(container, "volumeMounts"),
      R"([{"mountPath":"/hpsearch","name":"hpsearch-state"},{"mountPath":"/tmp","name":"hpsearch-tmp"},)"
      R"({"mountPath":"/dev/shm","name":"hpsearch-shm"},{"mountPath":"/run/hpsearch","name":"hpsearch-invite","readOnly":true}])");
}

TEST(JobManifest, AsksForResources) {
  const Value job = job_of(order_of(), {"--gpus", "4", "--cpu", "8", "--memory", "64Gi"});
  EXPECT_EQ(json_at(container_of(job), "resources"),
            R"({"limits":{"memory":"64Gi","nvidia.com/gpu":"4"},"requests":{"cpu":"8","memory":"64Gi"}})");
  EXPECT_EQ(json_at(container_of(job_of(order_of())), "resources"), "");
}

TEST(JobManifest, KeepsThePodTemplate) {
  const Value job = job_of(order_of(), {"--pod-template",
                                        R"({"metadata": {"labels": {"team": "a"}},
           "spec": {"nodeSelector": {"disk": "ssd"}, "securityContext": {"runAsUser": 0}, "volumes": [{"name": "data", "emptyDir": {}}],
                    "containers": [{"name": "training", "image": "old:1", "env": [{"name": "HOME", "value": "/data"}],
                                    "volumeMounts": [{"name": "data", "mountPath": "/tmp"}],
                                    "securityContext": {"readOnlyRootFilesystem": false}}]}})"});
  const Value container = container_of(job);
  EXPECT_EQ(json_at(job, "spec.template.metadata.labels.team"), "\"a\"");
  EXPECT_EQ(json_at(job, "spec.template.spec.nodeSelector"), R"({"disk":"ssd"})");
  EXPECT_EQ(json_at(job, "spec.template.spec.securityContext.runAsNonRoot"), "") << "root is not non-root";
  EXPECT_EQ(json_at(container, "name"), "\"training\"");
  EXPECT_EQ(json_at(container, "image"), "\"train:3\"") << "--image stands for the image of the template";
  EXPECT_EQ(json_at(container, "env"), R"([{"name":"HOME","value":"/data"}])");
  EXPECT_EQ(json_at(container, "securityContext.readOnlyRootFilesystem"), "false");
  EXPECT_EQ(json_at(container, "volumeMounts").find("hpsearch-tmp"), std::string::npos)
      << "the template mounts /tmp";
}

TEST(JobManifest, GoesToKueueAndVolcanoWhenAsked) {
  const Value job = job_of(order_of(), {"--kueue-queue", "team-a", "--scheduler-name", "volcano"});
  EXPECT_EQ(*job.at_keys(std::vector<std::string>{"metadata", "labels", "kueue.x-k8s.io/queue-name"}),
            Value("team-a"));
  EXPECT_EQ(json_at(job, "spec.suspend"), "true");
  EXPECT_EQ(json_at(job, "spec.template.spec.schedulerName"), "\"volcano\"");
  EXPECT_EQ(json_at(job_of(order_of()), "spec.suspend"), "");
}

/// These files are compared with the schemas of each release of Kubernetes
/// (tests/kubernetes/manifests_test.py). HPSEARCH_BLESS=1 writes them.
TEST(GoldenManifests, AreThoseOfTheQueue) {
  const auto judge = [](const std::string& name, const Value& manifest) {
    const std::filesystem::path path = std::filesystem::path(HPSEARCH_GOLDEN_JOBS) / (name + ".json");
    const std::string text = proto::pretty_json(manifest) + "\n";
    if (std::getenv("HPSEARCH_BLESS") != nullptr) {
      write_text(path, text);
    }
    EXPECT_EQ(text, text_of(path)) << path;
  };
  judge("job", job_of(order_of()));
  judge("job_with_all_arguments",
        job_of(order_of(4),
               {"--gpus", "4", "--cpu", "8", "--memory", "64Gi", "--kueue-queue", "team-a",
                "--scheduler-name", "volcano", "--pod-template",
                R"({"spec": {"nodeSelector": {"disk": "ssd"}, "containers": [{"name": "training"}]}})"}));
  judge("secret", secret_manifest(order_of(), "0b6bb4a1-3c5c-4f6f-9a4e-6a0d1f1f6a11", "hpi_word"));
}

TEST(SecretManifest, IsRemovedWithItsJob) {
  const Value secret = secret_manifest(order_of(), "uid-1", "hpi_word");
  EXPECT_EQ(json_at(secret, "metadata.name"), "\"hpsearch-gpu-17-01234567\"");
  EXPECT_EQ(json_at(secret, "metadata.ownerReferences"),
            R"([{"apiVersion":"batch/v1","kind":"Job","name":"hpsearch-gpu-17-01234567","uid":"uid-1"}])");
  EXPECT_EQ(json_at(secret, "stringData"), R"({"invite":"hpi_word"})");
  EXPECT_EQ(engine::compact_json(job_of(order_of())).find("hpi_"), std::string::npos)
      << "the Job has no secret";
}

}  // namespace
}  // namespace hpsearch::daemon::kubernetes
