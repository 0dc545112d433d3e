#include "hpsearch/workers/shell/devices/nvidia.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/workers/shell/devices/device_use.hpp"
#include "hpsearch/workers/shell/devices/device_watch.hpp"
#include "scratch.hpp"

// The driver's answers, from a library that returns what a test wrote into a file.

namespace hpsearch::workers {
namespace {

using namespace std::chrono_literals;
using engine::AttemptKey;
using engine::AttemptNumber;
using engine::ExperimentId;
using engine::LeaseId;
using engine::SlotIndex;
using engine::TrialNumber;

class Nvml : public testing::Test {
 protected:
  void SetUp() override { ::setenv("FAKE_NVML", (scratch_.path() / "gpus").c_str(), 1); }
  void TearDown() override { ::unsetenv("FAKE_NVML"); }

  void drivers_say(const std::string& text) { std::ofstream(scratch_.path() / "gpus") << text; }
  static DeviceReport ask() { return ask_nvml(HPSEARCH_FAKE_NVML); }

  Scratch scratch_;
};

TEST_F(Nvml, NamesGpusInTheOrderOfTheBus) {
  drivers_say(
      "uuid=GPU-bbbb name=Second bus=9 memory=2000 free=1500 process=77:300\n"
      "uuid=GPU-aaaa name=First bus=3 memory=1000\n");
  const DeviceReport report = ask();
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(report.driver, "550.00");
  ASSERT_EQ(report.devices.size(), 2U);
  EXPECT_EQ(report.devices[0].uuid, "GPU-aaaa");
  EXPECT_EQ(report.devices[0].index, 0U);
  const Device& second = report.devices[1];
  EXPECT_EQ(second.uuid, "GPU-bbbb");
  EXPECT_EQ(second.name, "Second");
  EXPECT_EQ(second.index, 1U);
  EXPECT_EQ(second.memory_bytes, 2000ULL << 20U);
  EXPECT_EQ(second.free_bytes, 1500ULL << 20U);
  EXPECT_EQ(second.temperature, 41);
  EXPECT_EQ(second.utilization, 25);
  EXPECT_EQ(second.trouble, "");
  ASSERT_EQ(second.processes.size(), 1U);
  EXPECT_EQ(second.processes[0].pid, 77);
  EXPECT_EQ(second.processes[0].memory_bytes, 300ULL << 20U);
}

TEST_F(Nvml, OlderDriverReturnsTheFieldsItHas) {
  drivers_say("uuid=GPU-bbbb bus=9 process=77:300\nuuid=GPU-aaaa bus=3 ecc=5\n");
  const DeviceReport report = ask_nvml(HPSEARCH_FAKE_NVML_OLD);
  ASSERT_EQ(report.devices.size(), 2U);
  EXPECT_EQ(report.devices[0].uuid, "GPU-bbbb") << "as it lists them";
  EXPECT_EQ(report.devices[0].processes.at(0).memory_bytes, 300ULL << 20U);
  EXPECT_FALSE(report.devices[0].temperature);
  EXPECT_FALSE(report.devices[0].utilization);
  EXPECT_EQ(report.devices[1].trouble, "") << "it cannot tell";
}

TEST_F(Nvml, ReportsBrokenDevices) {
  drivers_say(
      "uuid=GPU-aaaa bus=1 ecc=2\n"
      "uuid=GPU-bbbb bus=2 failed_rows=1\n"
      "uuid=GPU-cccc bus=3 mode=2\n"
      "uuid=GPU-dddd bus=4 mode=3\n"
      "uuid=GPU-eeee bus=5 lost=1\n");
  const DeviceReport report = ask();
  ASSERT_EQ(report.devices.size(), 4U);
  EXPECT_NE(report.devices[0].trouble.find("2 uncorrectable memory errors"), std::string::npos);
  EXPECT_NE(report.devices[1].trouble.find("broken row"), std::string::npos);
  EXPECT_NE(report.devices[2].trouble.find("PROHIBITED"), std::string::npos);
  EXPECT_EQ(report.devices[3].trouble, "");
  EXPECT_NE(report.devices[3].remark.find("EXCLUSIVE_PROCESS"), std::string::npos);
  ASSERT_EQ(report.unknown.size(), 1U);
  EXPECT_NE(report.unknown[0].find("GPU is lost"), std::string::npos);
}

TEST_F(Nvml, SeesTheInstancesOfAGpuInMigMode) {
  drivers_say("uuid=GPU-aaaa bus=1 mig=MIG-one mig=MIG-two process=5:1\n");
  const DeviceReport report = ask();
  ASSERT_EQ(report.devices.size(), 3U);
  EXPECT_TRUE(report.devices[0].whole_in_mig_mode);
  EXPECT_EQ(report.devices[0].selector, "0");
  EXPECT_EQ(report.devices[2].uuid, "MIG-two");
  EXPECT_EQ(report.devices[2].selector, "MIG-two") << "CUDA knows it by no number";
  EXPECT_EQ(usable_devices(report, {}).size(), 2U);
}

TEST_F(Nvml, ReportsWhyItDoesNotAnswer) {
  EXPECT_NE(ask_nvml("/there/is/none.so").problem.find("cannot be loaded"), std::string::npos);
  EXPECT_NE(ask_nvml("libm.so.6").problem.find("is no NVML"), std::string::npos);
  drivers_say("init=18\n");
  EXPECT_NE(ask().problem.find("does not begin: fake error"), std::string::npos);
  drivers_say("init=9\n");
  EXPECT_EQ(ask().problem, "the driver is not loaded");
}

// --- each time in a new process ---

class Looking : public Nvml {
 protected:
  void SetUp() override {
    Nvml::SetUp();
    ::setenv("HPSEARCH_NVML_LIBRARY", HPSEARCH_FAKE_NVML, 1);
    look_.command = {HPSEARCH_WORKER_BINARY, "--list-devices", "--slots", "nvidia"};
  }
  void TearDown() override {
    ::unsetenv("HPSEARCH_NVML_LIBRARY");
    Nvml::TearDown();
  }
  DeviceLook look_;
};

TEST_F(Looking, ReturnsTheReportOfTheLibrary) {
  drivers_say("uuid=GPU-aaaa bus=3 memory=1000 process=77:300\n");
  const DeviceReport report = look_once(look_);
  EXPECT_EQ(report.problem, "");
  ASSERT_EQ(report.devices.size(), 1U);
  EXPECT_EQ(report.kind, "nvidia");
  DeviceReport here = ask();
  here.kind = "nvidia";
  EXPECT_EQ(to_value(report), to_value(here));
}

TEST_F(Looking, OutlivesADriverThatHangsOrCrashes) {
  drivers_say("hang=1\n");
  look_.deadline = 50ms;
  EXPECT_EQ(look_once(look_).problem, "the driver did not answer within 50 ms");
  look_.deadline = 60s;
  drivers_say("crash=1\n");
  EXPECT_NE(look_once(look_).problem, "");
  drivers_say("uuid=GPU-aaaa bus=3\n");
  EXPECT_EQ(look_once(look_).problem, "") << "it is asked again";
  look_.command = {"/there/is/no/program"};
  EXPECT_NE(look_once(look_).problem.find("/there/is/no/program"), std::string::npos);
}

TEST_F(Looking, AnswersEachQuestionWithALaterReport) {
  drivers_say("uuid=GPU-aaaa bus=3\n");
  net::Loop loop;
  DeviceWatch watch(loop, look_);
  std::vector<std::size_t> seen;
  watch.ask([&](const DeviceReport& report) {
    seen.push_back(report.devices.size());
    drivers_say("uuid=GPU-aaaa bus=3\nuuid=GPU-bbbb bus=4\n");
    watch.ask([&](const DeviceReport& later) {
      seen.push_back(later.devices.size());
      loop.stop();
    });
  });
  loop.run();
  EXPECT_EQ(seen, (std::vector<std::size_t>{1, 2}));
}

// --- owners of processes ---

TEST(DeviceUse, FindsItsProcessesByTheirMarkAndNamesForeignOnes) {
  const std::string mark = "HPSEARCH_SOCKET=/device/use/test";
  const AttemptKey key{ExperimentId{1}, TrialNumber{0}, AttemptNumber{1}, LeaseId{5}};
  std::array<int, 2> ready{};
  std::array<int, 2> silent{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  ASSERT_EQ(::pipe(silent.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ready[1], STDOUT_FILENO);
    ::dup2(silent[0], STDIN_FILENO);
    // No exec after the first word, because a process has no environment for a moment during exec.
    const char* argv[] = {"/bin/sh", "-c", "echo x; read word", nullptr};
    const char* environment[] = {mark.c_str(), nullptr};
    ::execve("/bin/sh", const_cast<char* const*>(argv), const_cast<char* const*>(environment));
    ::_exit(127);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  DeviceUse use({{"GPU-aaaa", "Fake", 0, 0}, {"GPU-bbbb", "Fake", 1, 0}}, "GPU");
  use.began(key, {SlotIndex{1}}, {"HPSEARCH_ATTEMPT_MARK=/device/use/test", mark});
  DeviceReport report;
  report.devices.resize(2);
  report.devices[0].uuid = "GPU-aaaa";
  report.devices[0].processes = {{child, 0}};
  report.devices[1].uuid = "GPU-bbbb";
  report.devices[1].index = 1;
  report.devices[1].free_bytes = 900ULL << 20U;
  report.devices[1].memory_bytes = 1000ULL << 20U;
  report.devices[1].processes = {{child, 0}, {::getpid(), 7ULL << 20U}};
  use.look(report);
  EXPECT_EQ(use.of(key, report), std::vector{child});
  const std::string strangers = use.strangers(key, report);
  EXPECT_NE(strangers.find("GPU 1: process " + std::to_string(::getpid()) + " ("), std::string::npos)
      << strangers;
  EXPECT_EQ(strangers.find(std::to_string(child)), std::string::npos) << strangers;
  EXPECT_EQ(use.memory(key, report), "GPU 1: 900 of 1000 MiB free");
  report.devices[1].free_bytes.reset();
  EXPECT_EQ(use.memory(key, report), "GPU 1: its free memory is unknown");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(use.of(key, report), std::vector{child}) << "the driver lists it still";
  DeviceUse of_the_next_agent({{"GPU-aaaa", "Fake", 0, 0}, {"GPU-bbbb", "Fake", 1, 0}}, "GPU");
  of_the_next_agent.began(key, {SlotIndex{1}}, {mark});
  EXPECT_TRUE(of_the_next_agent.of(key, report).empty()) << "whose it was it cannot know";
  of_the_next_agent.began(key, {SlotIndex{1}}, {mark}, true);
  EXPECT_EQ(of_the_next_agent.of(key, report), std::vector{child}) << "but that something is left was told";
  report.devices[1].processes = {{::getpid(), 0}};
  EXPECT_TRUE(use.of(key, report).empty());
  EXPECT_TRUE(of_the_next_agent.of(key, report).empty());
  use.over(key);
  EXPECT_FALSE(use.on_devices(key));
  for (const int end : {ready[0], ready[1], silent[0], silent[1]}) {
    ::close(end);
  }
}

}  // namespace
}  // namespace hpsearch::workers
