#include "hpsearch/workers/shell/devices/ascend.hpp"

#include <gtest/gtest.h>

#include <string>

#include "scratch.hpp"

// The texts have the layouts that versions of npu-smi print, as people have published them.

namespace hpsearch::workers {
namespace {

std::string text(const std::string& name) {
  return text_of(std::string(HPSEARCH_NPU_SMI_TEXTS) + "/" + name);
}

TEST(Npus, ChipHasTheValuesOfItsCard) {
  const DeviceReport report = npus_in(text("one_chip.map"), text("one_chip.table"));
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(report.driver, "25.5.1");
  ASSERT_EQ(report.devices.size(), 2U) << "without the controllers, which have no logic id";
  const Device& first = report.devices[0];
  EXPECT_EQ(first.uuid, "NPU-0-0");
  EXPECT_EQ(first.name, "Ascend 910B3");
  EXPECT_EQ(first.selector, "0");
  EXPECT_EQ(first.memory_bytes, 65'536ULL << 20U);
  EXPECT_EQ(first.free_bytes, 62'091ULL << 20U);
  EXPECT_EQ(first.temperature, 45);
  EXPECT_EQ(first.utilization, 0);
  EXPECT_EQ(first.trouble + first.remark, "");
  EXPECT_TRUE(first.processes.empty());
  const Device& second = report.devices[1];
  EXPECT_EQ(second.uuid, "NPU-5-0");
  EXPECT_EQ(second.selector, "1") << "the logic id, not the number of the card";
  EXPECT_EQ(second.free_bytes, 5'380ULL << 20U) << "no space stands before its /";
  EXPECT_EQ(second.utilization, 12);
  EXPECT_EQ(second.trouble, "has the health state Critical");
  ASSERT_EQ(second.processes.size(), 1U);
  EXPECT_EQ(second.processes[0].pid, 2'290'156);
  EXPECT_EQ(second.processes[0].memory_bytes, 56'630ULL << 20U);
}

TEST(Npus, CardWithTwoChipsIsTwoDevices) {
  const DeviceReport report = npus_in(text("two_chips.map"), text("two_chips.table"));
  ASSERT_EQ(report.devices.size(), 4U);
  EXPECT_EQ(report.devices[3].uuid, "NPU-1-1");
  EXPECT_EQ(report.devices[3].selector, "3");
  EXPECT_EQ(report.devices[1].remark, "has the health state Warning");
  EXPECT_EQ(report.devices[1].temperature, 35);
  EXPECT_EQ(report.devices[1].utilization, 7);
  EXPECT_FALSE(report.devices[3].utilization);
  EXPECT_EQ(report.devices[3].free_bytes, 62'341ULL << 20U);
  EXPECT_EQ(report.devices[0].processes.at(0).pid, 3'325'989) << "its name is empty";
  EXPECT_EQ(report.devices[1].processes.at(0).pid, 3'328'327);
}

TEST(Npus, AreFoundByTheTitlesOfTheColumns) {
  const DeviceReport report = npus_in(text("slots.map"), "");
  ASSERT_EQ(report.devices.size(), 2U);
  EXPECT_EQ(report.devices[1].uuid, "NPU-1-0");
  EXPECT_EQ(report.devices[1].name, "Ascend950PR");
  EXPECT_EQ(report.devices[1].memory_bytes, 0U) << "the table is empty";
  EXPECT_FALSE(report.devices[1].free_bytes);
}

TEST(Npus, CardWhoseNameIsANumberIsNoChip) {
  const DeviceReport report =
      npus_in("\tNPU ID    Chip ID    Chip Logic ID    Chip Name\n\t0    0    0    Ascend 310\n",
              "| 0       310             | OK              | 12.8         45                0     / 970 |\n"
              "| 0       0               | 0000:05:00.0    | 3            621  / 8192       |\n");
  ASSERT_EQ(report.devices.size(), 1U);
  EXPECT_EQ(report.devices[0].temperature, 45);
  EXPECT_EQ(report.devices[0].utilization, 3);
  EXPECT_EQ(report.devices[0].free_bytes, 7'571ULL << 20U);
}

TEST(Npus, OtherTextsAreAProblem) {
  const std::string map = text("one_chip.map");
  for (const std::string& wrong : {std::string(), std::string("dcmi model initialized failed, error 8005\n"),
                                   map.substr(0, map.find('\n')), std::string(100'000, '|')}) {
    EXPECT_EQ(npus_in(wrong, wrong).problem, "npu-smi info -m lists no NPU in a form that hpsearch can read");
  }
  const std::string table = text("one_chip.table");
  for (std::size_t length = 0; length < table.size(); length += 7) {
    EXPECT_EQ(npus_in(map, table.substr(0, length)).devices.size(), 2U);
  }
}

}  // namespace
}  // namespace hpsearch::workers
