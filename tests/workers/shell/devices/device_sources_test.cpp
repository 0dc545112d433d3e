#include "hpsearch/workers/shell/devices/device_sources.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "amd_machine.hpp"
#include "hpsearch/workers/shell/devices/worker_slots.hpp"

// Machines of files: NVML's simulation, AMD's sysfs, and a script that prints what npu-smi would.

namespace hpsearch::workers {
namespace {

using Words = std::vector<std::string>;

class DeviceSources : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("HPSEARCH_DEVICE_ROOT", scratch_.path().c_str(), 1);
    ::setenv("HPSEARCH_NVML_LIBRARY", "/there/is/none.so", 1);
    ::setenv("HPSEARCH_NPU_SMI", "/there/is/none", 1);
  }
  void TearDown() override {
    for (const char* name : {"HPSEARCH_DEVICE_ROOT", "HPSEARCH_NVML_LIBRARY", "HPSEARCH_NPU_SMI", "FAKE_NVML",
                             "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"}) {
      ::unsetenv(name);
    }
  }

  void add_nvidia() {
    ::setenv("FAKE_NVML", scratch_.write("gpus", "uuid=GPU-aaaa bus=1\n").c_str(), 1);
    ::setenv("HPSEARCH_NVML_LIBRARY", HPSEARCH_FAKE_NVML, 1);
  }
  void add_amd() { AmdMachine(scratch_.path()).add(1, {.gpu_id = "100"}); }
  void add_ascend() {
    const std::string texts = std::string(HPSEARCH_NPU_SMI_TEXTS) + "/one_chip";
    const std::string script = scratch_.write(
        "npu-smi", "#!/bin/sh\ntest \"$2\" = -m && cat " + texts + ".map || cat " + texts + ".table\n");
    ::chmod(script.c_str(), 0755);
    ::setenv("HPSEARCH_NPU_SMI", script.c_str(), 1);
    scratch_.write("dev/davinci0", "");
  }

  static engine::Value listed(const std::string& slots = "auto") {
    return listed_devices({.slots = slots}).value();
  }
  static Words usable() {
    Words uuids;
    const engine::Value all = listed();
    for (const engine::Value& uuid : *all.as_map()->find("usable")->as_list()) {
      uuids.push_back(*uuid.as_text());
    }
    return uuids;
  }

  Scratch scratch_;
};

TEST_F(DeviceSources, OnlyKindOfTheMachineIsFound) {
  EXPECT_EQ(look_at_devices("").kind, "");
  EXPECT_NE(look_at_devices("").problem.find("amd: the kernel lists no GPU"), std::string::npos);
  add_ascend();
  EXPECT_EQ(look_at_devices("").kind, "ascend");
  EXPECT_EQ(look_at_devices("").devices.size(), 2U);
  EXPECT_EQ(look_at_devices("amd").kind, "amd");
  EXPECT_TRUE(look_at_devices("amd").devices.empty());
}

TEST_F(DeviceSources, SeveralKindsNeedAChoice) {
  add_nvidia();
  add_amd();
  const DeviceReport both = look_at_devices("");
  EXPECT_EQ(both.ambiguous, (Words{"nvidia", "amd"}));
  EXPECT_TRUE(both.devices.empty());
  EXPECT_EQ(look_at_devices("nvidia").devices.at(0).uuid, "GPU-aaaa");
  EXPECT_EQ(look_at_devices("amd").devices.at(0).uuid, "GPU-kfd-100");
  add_ascend();
  EXPECT_EQ(look_at_devices("").ambiguous, (Words{"nvidia", "amd", "ascend"}));
}

TEST_F(DeviceSources, DeviceFilesOfADriverThatDoesNotAnswerCountAsItsKind) {
  scratch_.write("dev/nvidia-uvm", "");
  EXPECT_FALSE(has_device_files("nvidia"));
  scratch_.write("dev/nvidia3", "");
  EXPECT_TRUE(has_device_files("nvidia"));
  const DeviceReport report = look_at_devices("");
  EXPECT_EQ(report.kind, "nvidia");
  EXPECT_NE(report.problem.find("cannot be loaded"), std::string::npos);
  add_amd();
  EXPECT_EQ(look_at_devices("").ambiguous, (Words{"nvidia", "amd"}))
      << "nobody wants the other kind by accident";
  EXPECT_FALSE(has_device_files("amd"));
  EXPECT_FALSE(has_device_files("generic"));
}

TEST_F(DeviceSources, NpuSmiThatFailsIsAProblem) {
  add_ascend();
  ::setenv("HPSEARCH_NPU_SMI", "false", 1);
  const DeviceReport report = look_at_devices("");
  EXPECT_EQ(report.kind, "ascend");
  EXPECT_EQ(report.problem, "false: it failed with exit code 1");
}

TEST_F(DeviceSources, DevicesThatTheEnvironmentLeavesAreUsable) {
  AmdMachine machine(scratch_.path());
  for (unsigned node = 1; node <= 4; ++node) {
    machine.add(node, {.gpu_id = std::to_string(node)});
  }
  EXPECT_EQ(usable().size(), 4U);
  ::setenv("ROCR_VISIBLE_DEVICES", "2,3", 1);
  EXPECT_EQ(usable(), (Words{"GPU-kfd-3", "GPU-kfd-4"}));
  ::setenv("GPU_DEVICE_ORDINAL", "1", 1);
  EXPECT_EQ(usable(), Words{"GPU-kfd-4"}) << "its numbers are positions in the other list";
  EXPECT_EQ(*listed().as_map()->find("restrictions"),
            R"(ROCR_VISIBLE_DEVICES is "2,3", GPU_DEVICE_ORDINAL is "1")");
  ::setenv("HIP_VISIBLE_DEVICES", "2,3", 1);
  EXPECT_EQ(usable(), (Words{"GPU-kfd-3", "GPU-kfd-4"}))
      << "it is before the other, and Slurm's copy of the first";
  EXPECT_EQ(*listed().as_map()->find("slot_kind"), "gpu");
  EXPECT_EQ(*listed("ascend").as_map()->find("slot_kind"), "npu");
}

TEST_F(DeviceSources, MachineWithoutDevicesHasSlotsOfItsProcessors) {
  const engine::Value none = listed();
  EXPECT_EQ(*none.as_map()->find("slot_kind"), "cpu");
  EXPECT_TRUE(none.as_map()->find("usable")->as_list()->empty());
  EXPECT_FALSE(listed_devices({.generic_names = "a"}));
}

}  // namespace
}  // namespace hpsearch::workers
