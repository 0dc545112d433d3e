#include "hpsearch/workers/shell/devices/amd.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "amd_machine.hpp"

namespace hpsearch::workers {
namespace {

namespace fs = std::filesystem;

class AmdGpus : public testing::Test {
 protected:
  [[nodiscard]] DeviceReport look() const { return look_at_amd(scratch_.path()); }

  Scratch scratch_;
  AmdMachine machine_{scratch_.path()};
};

TEST_F(AmdGpus, AreNumberedInTheOrderOfTheTopology) {
  machine_.add(10, {.gpu_id = "17126"});
  machine_.add(
      2, {.gpu_id = "15209", .unique_id = "17782112837442551549", .memory_mib = 65'536, .used_mib = 300});
  machine_.write_card(2, "product_name", "AMD Instinct MI250X");
  machine_.write_card(2, "hwmon/hwmon3/temp1_input", "41000");
  machine_.write_card(2, "hwmon/hwmon3/temp2_input", "52999");
  const DeviceReport report = look();
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(report.driver, "6.8.5");
  ASSERT_EQ(report.devices.size(), 2U);
  const Device& first = report.devices[0];
  EXPECT_EQ(first.uuid, "GPU-f6c6c16977ad3efd");
  EXPECT_EQ(first.name, "AMD Instinct MI250X");
  EXPECT_EQ(first.selector, "0");
  EXPECT_EQ(first.index, 0U);
  EXPECT_EQ(first.memory_bytes, 65'536ULL << 20U);
  EXPECT_EQ(first.free_bytes, 65'236ULL << 20U);
  EXPECT_EQ(first.temperature, 52) << "of the hottest place";
  EXPECT_EQ(first.utilization, 83);
  EXPECT_EQ(report.devices[1].uuid, "GPU-kfd-17126") << "it has no unique id";
  EXPECT_EQ(report.devices[1].name, "AMD GPU (gfx90a)");
  EXPECT_EQ(report.devices[1].selector, "1");
  EXPECT_FALSE(report.devices[1].temperature);
}

TEST_F(AmdGpus, IntegratedGraphicsHaveANumberAndAreLeftOut) {
  machine_.add(1, {.gpu_id = "5710", .memory_mib = 512});
  EXPECT_EQ(look().problem, "the only GPUs for computing are integrated graphics");
  machine_.add(2, {.gpu_id = "15209"});
  const DeviceReport report = look();
  ASSERT_EQ(report.devices.size(), 1U);
  EXPECT_EQ(report.devices[0].selector, "1") << "ROCm counts them all";
}

TEST_F(AmdGpus, HaveTheProcessesThatHoldTheirMemory) {
  machine_.add(1, {.gpu_id = "15209"});
  machine_.add(2, {.gpu_id = "17126"});
  machine_.write("proc/812/vram_15209", "524288000\n");
  machine_.write("proc/812/vram_17126", "0\n");
  machine_.write("proc/99/vram_15209", "0\n");
  const DeviceReport report = look();
  ASSERT_EQ(report.devices.size(), 2U);
  ASSERT_EQ(report.devices[0].processes.size(), 1U) << "the driver lists each process for every GPU";
  EXPECT_EQ(report.devices[0].processes[0].pid, 812);
  EXPECT_EQ(report.devices[0].processes[0].memory_bytes, 524'288'000U);
  EXPECT_TRUE(report.devices[1].processes.empty());
}

TEST_F(AmdGpus, PartsOfOneGpuHaveDifferentNames) {
  machine_.add(1, {.gpu_id = "100", .unique_id = "7"});
  machine_.add(2, {.gpu_id = "200", .unique_id = "7"});
  fs::remove(machine_.card(2) / "mem_info_vram_used");
  const DeviceReport report = look();
  ASSERT_EQ(report.devices.size(), 2U);
  EXPECT_EQ(report.devices[0].uuid, "GPU-kfd-100");
  EXPECT_EQ(report.devices[1].uuid, "GPU-kfd-200");
  EXPECT_EQ(report.devices[1].memory_bytes, 16'384ULL << 20U) << "from the banks";
  EXPECT_FALSE(report.devices[1].free_bytes) << "the driver counts it for the whole GPU";
}

TEST_F(AmdGpus, UncorrectableErrorsAreARemark) {
  machine_.add(1, {.gpu_id = "100"});
  machine_.write_card(1, "ras/umc_err_count", "ue: 2\nce: 40");
  const DeviceReport report = look();
  ASSERT_EQ(report.devices.size(), 1U);
  EXPECT_EQ(report.devices[0].trouble, "") << "the driver retires the memory and goes on";
  EXPECT_EQ(report.devices[0].remark, "has 2 uncorrectable memory errors (ECC) since the driver was loaded");
}

TEST_F(AmdGpus, NodesOfOtherContainersAreNotCounted) {
  machine_.add(1, {.gpu_id = "100"});
  machine_.add(2, {.gpu_id = "200"});
  fs::remove(scratch_.path() / "sys/class/kfd/kfd/topology/nodes/1/gpu_id");  // Reading it gives EPERM there.
  const DeviceReport report = look();
  ASSERT_EQ(report.devices.size(), 1U);
  EXPECT_EQ(report.devices[0].selector, "0");
  EXPECT_EQ(report.devices[0].uuid, "GPU-kfd-200");
}

TEST_F(AmdGpus, AreOfNoUseWithoutTheDeviceFile) {
  EXPECT_EQ(look().problem, "the kernel lists no GPU for computing");
  machine_.add(1, {.gpu_id = "100"});
  fs::remove(scratch_.path() / "dev/kfd");
  EXPECT_NE(look().problem.find("No such file"), std::string::npos);
  EXPECT_TRUE(look().devices.empty());
  EXPECT_TRUE(look().unknown.empty()) << "usual in a container";
  write_text(scratch_.path() / "dev/kfd", "");
  ::chmod((scratch_.path() / "dev/kfd").c_str(), 0);
  if (::geteuid() != 0) {
    ASSERT_EQ(look().unknown.size(), 1U);
    EXPECT_NE(look().unknown[0].find("groups render and video"), std::string::npos);
  }
}

TEST_F(AmdGpus, DamagedFilesGiveNoValues) {
  machine_.add(1, {.gpu_id = "100"});
  machine_.write_card(1, "gpu_busy_percent", "-");
  machine_.write_card(1, "mem_info_vram_used", "lots");
  machine_.write("topology/nodes/7/properties", "simd_count\n:\n\nsimd_count x\n gfx 3");
  machine_.write("topology/nodes/x/gpu_id", "3");
  machine_.write("proc/nobody/vram_100", "3");
  const DeviceReport report = look();
  ASSERT_EQ(report.devices.size(), 1U);
  EXPECT_FALSE(report.devices[0].utilization);
  EXPECT_FALSE(report.devices[0].free_bytes);
}

}  // namespace
}  // namespace hpsearch::workers
