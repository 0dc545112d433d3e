#include "daemon/alloc/kubernetes/pod_request.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon/alloc/kubernetes.hpp"
#include "messages.hpp"

// Arguments of queues on Kubernetes.

namespace hpsearch::daemon::kubernetes {
namespace {

using Words = std::vector<std::string>;

std::string problem_with(const Words& arguments) {
  const auto read = read_pod_request(arguments);
  return read ? "it is taken" : read.error().message;
}

std::string problem_with_template(const std::string& json) {
  return problem_with({"--image", "i", "--pod-template", json});
}

TEST(PodRequest, HasWhatTheArgumentsSay) {
  const auto read = read_pod_request({"--image", "registry.example.org/train:3", "--gpus=4", "--cpu", "8",
                                      "--memory", "64Gi", "--kueue-queue", "team-a", "--scheduler-name",
                                      "volcano", "--gpu-resource", "amd.com/gpu"});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->image, "registry.example.org/train:3");
  EXPECT_EQ(read->worker, "hpsearch-worker");
  EXPECT_EQ(read->gpus, 4U);
  EXPECT_EQ(read->gpu_resource, "amd.com/gpu");
  EXPECT_EQ(read->cpu, "8");
  EXPECT_EQ(read->memory, "64Gi");
  EXPECT_EQ(read->kueue_queue, "team-a");
  EXPECT_EQ(read->scheduler, "volcano");
}

TEST(PodRequest, RefusesArgumentsWithTheirNames) {
  const std::vector<Words> wrong{{},
                                 {"--image"},
                                 {"--image", ""},
                                 {"--image", "two words"},
                                 {"image"},
                                 {"--imag", "i"},
                                 {"--colour", "red"},
                                 {"--image", "i", "--image", "j"},
                                 {"--image", "i", "--gpus", "many"},
                                 {"--image", "i", "--gpus", "-1"},
                                 {"--image", "i", "--cpu", "0"},
                                 {"--image", "i", "--cpu", "8 cores"},
                                 {"--image", "i", "--memory", "64GB"},
                                 {"--image", "i", "--gpu-resource", "a b"},
                                 {"--image", "i", "--namespace", "team-a"},
                                 {"--image", "i", "--pod-template", "pod.yaml"},
                                 {"--pod-template", R"({"spec": {}})"}};
  for (const Words& words : wrong) {
    EXPECT_MESSAGE(problem_with(words));
  }
}

TEST(PodRequest, TakesQuantitiesAsKubernetesHasThem) {
  for (const char* quantity : {"8", "500m", "1.5", "64Gi", "500M", "1e3", "2E", "1E2"}) {
    EXPECT_EQ(problem_with({"--image", "i", "--memory", quantity}), "it is taken") << quantity;
  }
}

TEST(PodTemplate, MayNotSetWhatTheQueueSets) {
  EXPECT_EQ(problem_with_template(
                R"({"metadata": {"labels": {"team": "a"}}, "spec": {"nodeSelector": {"disk": "ssd"},
                    "containers": [{"name": "training", "env": [], "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
                    "volumes": [{"name": "data", "emptyDir": {}}]}})"),
            "it is taken");
  for (const char* json :
       {"[]", "{", R"({"kind": "Pod"})", R"({"spec": 5})", R"({"spec": {"restartPolicy": "Always"}})",
        R"({"spec": {"activeDeadlineSeconds": 5}})", R"({"spec": {"terminationGracePeriodSeconds": 5}})",
        R"({"spec": {"containers": [{"command": ["sh"]}]}})",
        R"({"spec": {"containers": [{"livenessProbe": {}}]}})",
        R"({"spec": {"containers": [{"name": "a"}, {"name": "b"}]}})", R"({"spec": {"containers": []}})",
        R"({"spec": {"volumes": [{"name": "hpsearch-state"}]}})", R"({"spec": {"volumes": 5}})",
        R"({"metadata": {"name": "a"}})", R"({"metadata": {"labels": {"hpsearch/cluster": "0"}}})",
        R"({"metadata": {"labels": []}})"}) {
    EXPECT_MESSAGE(problem_with_template(json));
  }
  EXPECT_MESSAGE(problem_with({"--image", "i", "--scheduler-name", "volcano", "--pod-template",
                               R"({"spec": {"schedulerName": "mine"}})"}));
}

TEST(PodSlots, AreThoseOfThePodAndNotOfItsNode) {
  const auto slots = [](Words arguments) {
    arguments.insert(arguments.end(), {"--image", "i"});
    return usual_slots(read_pod_request(arguments).value());
  };
  EXPECT_EQ(slots({"--gpus", "2", "--cpu", "8"}), "auto") << "the worker counts the GPUs that it sees";
  EXPECT_EQ(slots({"--cpu", "8"}), "8");
  EXPECT_EQ(slots({"--cpu", "2.5"}), "2");
  EXPECT_EQ(slots({"--cpu", "500m"}), "1");
  EXPECT_EQ(slots({}), "1");
  EXPECT_EQ(
      slots({"--pod-template", R"({"spec": {"containers": [{"resources": {"requests": {"cpu": 4}}}]}})"}),
      "4");
  EXPECT_EQ(slots({"--pod-template",
                   R"({"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 4}}}]}})"}),
            "auto");
}

TEST(KubernetesSettings, HaveNoLinesOfShell) {
  const auto problem = [](const std::string& name_space, engine::QueueSettings settings) {
    settings.arguments = {"--image", "i"};
    const engine::Status fine = Kubernetes(name_space, 1).check_settings(settings);
    return fine ? "it is taken" : fine.error().message;
  };
  EXPECT_EQ(problem("", {}), "it is taken");
  EXPECT_EQ(problem("team-a", {}), "it is taken");
  EXPECT_MESSAGE(problem("Team_A", {}));
  EXPECT_MESSAGE(problem("", {.before = "module load cuda"}));
  EXPECT_MESSAGE(problem("", {.state_root = "/scratch"}));
}

}  // namespace
}  // namespace hpsearch::daemon::kubernetes
