#include "hpsearch/workers/core/adapters/container/container_launch.hpp"

#include <gtest/gtest.h>

namespace hpsearch::workers {
namespace {

using Words = std::vector<std::string>;

ContainerPlan plan_for(ContainerRuntime runtime) {
  ContainerPlan plan;
  plan.runtime = runtime;
  plan.runtime_file = "/usr/bin/" + std::string(name_of(runtime));
  plan.image = "python:3.11";
  plan.name = "hpsearch-3-17-2-abcd";
  plan.user = 1000;
  plan.group = 100;
  plan.shared = {"/a"};
  plan.shown = {"/data/mnist"};
  plan.mounts = {{"/host/data", "/data", true}, {"/host/out", "out", false}};
  plan.program.directory = "/a/ml/usercode";
  plan.program.token = "HPSEARCH_ATTEMPT_MARK=/a/socket";
  plan.program.argv = {"sh", "-c", "echo $HOME"};
  plan.program.environment = {
      {"HOME", "/root"}, {"HPSEARCH_ATTEMPT_MARK", "/a/socket"}, {"TOKEN", "se\ncret"}};
  plan.worker_environment = {{"HOME", "/home/ann"}, {"PATH", "/usr/bin"}, {"WORKER_ONLY", "1"}};
  return plan;
}

ProgramStart command_of(const ContainerPlan& plan) {
  auto command = container_command(plan);
  EXPECT_TRUE(command) << (command ? "" : command.error().message);
  return command ? *command : ProgramStart{};
}

TEST(ContainerCommand, DockerCommandIsComplete) {
  EXPECT_EQ(command_of(plan_for(ContainerRuntime::docker)).argv,
            (Words{"/usr/bin/docker",
                   "run",
                   "--rm",
                   "--name",
                   "hpsearch-3-17-2-abcd",
                   "--pull=missing",
                   "--network=host",
                   "--ipc=host",
                   "--pid=host",
                   "--workdir",
                   "/a/ml/usercode",
                   "--entrypoint",
                   "",
                   "--user",
                   "1000:100",  //
                   "--mount",
                   "type=bind,source=/a,target=/a",  //
                   "--mount",
                   "type=bind,source=/data/mnist,target=/data/mnist,readonly",  //
                   "--mount",
                   "type=bind,source=/host/data,target=/data,readonly",  //
                   "--mount",
                   "type=bind,source=/host/out,target=/a/ml/usercode/out",  //
                   "--env",
                   "HOME=/root",
                   "--env",
                   "HPSEARCH_ATTEMPT_MARK",
                   "--env",
                   "TOKEN",  //
                   "python:3.11",
                   "sh",
                   "-c",
                   "echo $HOME"}));
}

TEST(ContainerCommand, PodmanKeepsTheUser) {
  ContainerPlan plan = plan_for(ContainerRuntime::podman);
  plan.pull = true;
  plan.mounts = {};
  plan.shown = {};
  plan.program.environment = {};
  EXPECT_EQ(command_of(plan).argv, (Words{"/usr/bin/podman",
                                          "run",
                                          "--rm",
                                          "--name",
                                          "hpsearch-3-17-2-abcd",
                                          "--pull=always",
                                          "--network=host",
                                          "--ipc=host",
                                          "--pid=host",
                                          "--workdir",
                                          "/a/ml/usercode",
                                          "--entrypoint",
                                          "",
                                          "--userns=keep-id",
                                          "--security-opt",
                                          "label=disable",
                                          "--mount",
                                          "type=bind,source=/a,target=/a",
                                          "python:3.11",
                                          "sh",
                                          "-c",
                                          "echo $HOME"}));
  plan.user = plan.group = 0;
  const Words as_root = command_of(plan).argv;
  EXPECT_NE(std::find(as_root.begin(), as_root.end(), "0:0"), as_root.end());
  EXPECT_EQ(std::find(as_root.begin(), as_root.end(), "--userns=keep-id"), as_root.end());
}

TEST(ContainerCommand, ApptainerCommandIsComplete) {
  ContainerPlan plan = plan_for(ContainerRuntime::apptainer);
  plan.ml = "/a/ml";
  const ProgramStart command = command_of(plan);
  EXPECT_EQ(command.argv, (Words{"/usr/bin/apptainer",
                                 "exec",
                                 "--cleanenv",
                                 "--no-home",
                                 "--contain",
                                 "--pwd",
                                 "/ml/usercode",
                                 "--bind",
                                 "/a:/a:rw",
                                 "--bind",
                                 "/data/mnist:/data/mnist:ro",
                                 "--bind",
                                 "/a/ml:/ml:rw",
                                 "--bind",
                                 "/host/data:/data:ro",
                                 "--bind",
                                 "/host/out:/ml/usercode/out:rw",
                                 "docker://python:3.11",
                                 "sh",
                                 "-c",
                                 "echo $HOME"}));
  EXPECT_EQ(command.directory, "/a/ml/usercode") << "/ml is seen in the container alone";
  EXPECT_EQ(command.token, plan.program.token);
  EXPECT_EQ(command.environment.at("APPTAINERENV_TOKEN"), "se\ncret");
  EXPECT_EQ(command.environment.at("APPTAINERENV_HOME"), "/root");
  EXPECT_EQ(command.environment.at("APPTAINER_NO_EVAL"), "1") << "a value is not executed";
  EXPECT_EQ(command.environment.at("HOME"), "/home/ann");
  EXPECT_FALSE(command.environment.contains("TOKEN"));
  for (const char* image : {"/images/python.sif", "library://python", "python.sif"}) {
    plan.image = image;
    const Words words = command_of(plan).argv;
    EXPECT_NE(std::find(words.begin(), words.end(), image), words.end()) << image;
  }
}

TEST(ContainerCommand, ArgumentsHaveNoSecrets) {
  for (const ContainerRuntime runtime :
       {ContainerRuntime::apptainer, ContainerRuntime::podman, ContainerRuntime::docker}) {
    const ProgramStart command = command_of(plan_for(runtime));
    for (const std::string& word : command.argv) {
      EXPECT_EQ(word.find("cret"), std::string::npos) << word;
      EXPECT_EQ(word.find("WORKER_ONLY"), std::string::npos) << word;
    }
    EXPECT_EQ(command.environment.at("HPSEARCH_ATTEMPT_MARK"), "/a/socket")
        << "the mark by which it is found";
    EXPECT_EQ(command.environment.at("HOME"), "/home/ann") << "the runtime's own";
    EXPECT_EQ(command.environment.at("PATH"), "/usr/bin");
  }
}

TEST(ContainerCommand, DevicesAreNamedByPermanentNames) {
  ContainerPlan plan = plan_for(ContainerRuntime::docker);
  const auto has = [&plan](const Words& wanted) {
    const Words words = command_of(plan).argv;
    return std::search(words.begin(), words.end(), wanted.begin(), wanted.end()) != words.end();
  };
  EXPECT_FALSE(has({"--gpus"}));
  plan.device_kind = *jobs::device_kind_named("nvidia");
  plan.devices = {"GPU-1", "GPU-2"};
  EXPECT_TRUE(has({"--gpus", "\"device=GPU-1,GPU-2\""}));
  plan.devices = {"5"};
  EXPECT_TRUE(has({"--gpus", "all"})) << "CUDA_VISIBLE_DEVICES=5 must still mean the fifth";
  plan.runtime = ContainerRuntime::podman;
  EXPECT_TRUE(has({"--device", "nvidia.com/gpu=all"}));
  plan.devices = {"GPU-1", "GPU-2"};
  EXPECT_TRUE(has({"--device", "nvidia.com/gpu=GPU-1", "--device", "nvidia.com/gpu=GPU-2"}));
  plan.runtime = ContainerRuntime::apptainer;
  EXPECT_TRUE(has({"--nv"}));
}

TEST(ContainerCommand, DevicesThatTheRuntimeCannotPassAreRefused) {
  ContainerPlan plan = plan_for(ContainerRuntime::docker);
  plan.device_kind = *jobs::device_kind_named("amd");
  EXPECT_TRUE(container_command(plan)) << "a trial without slots has no devices";
  plan.devices = {"0"};
  ASSERT_FALSE(container_command(plan));
  EXPECT_MESSAGE(container_command(plan).error().message);
  plan.runtime = ContainerRuntime::apptainer;
  const Words words = command_of(plan).argv;
  EXPECT_NE(std::find(words.begin(), words.end(), "--rocm"), words.end());
  plan.device_kind = *jobs::device_kind_named("ascend");
  EXPECT_FALSE(container_command(plan));
}

TEST(ContainerCommand, UnsupportedPathsAreRefusedByName) {
  ContainerPlan plan = plan_for(ContainerRuntime::docker);
  plan.mounts = {{"/a:b", "/c", false}};
  EXPECT_TRUE(container_command(plan)) << "--mount takes colons";
  plan.runtime = ContainerRuntime::apptainer;
  ASSERT_FALSE(container_command(plan));
  EXPECT_NE(container_command(plan).error().message.find("/a:b"), std::string::npos);
  plan.runtime = ContainerRuntime::podman;
  for (const char* path : {"/a,readonly", "/a\"", "/a\nb"}) {
    plan.mounts = {{path, "/c", false}};
    EXPECT_FALSE(container_command(plan)) << path;
  }
}

}  // namespace
}  // namespace hpsearch::workers
