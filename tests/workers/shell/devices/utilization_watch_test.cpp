#include "hpsearch/workers/shell/utilization_watch.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "scratch.hpp"

// A program that computes, on a GPU that a library of the tests knows.

namespace hpsearch::workers {
namespace {

using namespace std::chrono_literals;
using engine::AttemptKey;
using engine::AttemptNumber;
using engine::ExperimentId;
using engine::LeaseId;
using engine::SlotIndex;
using engine::TrialNumber;
using proto::Utilization;

constexpr std::uint64_t mebibyte = 1024UL * 1024;

class Watching : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("FAKE_NVML", (scratch_.path() / "gpus").c_str(), 1);
    ::setenv("HPSEARCH_NVML_LIBRARY", HPSEARCH_FAKE_NVML, 1);
    write_text(scratch_.path() / "gpus", "uuid=GPU-aaaa bus=3 memory=1000 free=400\n");
    program_ = ::fork();
    if (program_ == 0) {
      ::execl("/bin/sh", "sh", "-c", "while :; do :; done", nullptr);
      ::_exit(127);
    }
    auto state = WorkerState::open(scratch_.path() / "state");
    ASSERT_TRUE(state) << state.error().message;
    state_.emplace(*std::move(state));
    const auto info = process_info(program_);
    ASSERT_TRUE(info);
    const AttemptDirectory directory = state_->attempt(key_);
    ASSERT_TRUE(directory.make(""));
    ASSERT_TRUE(directory.write_process(
        {.pid = program_, .start_time = info->start_time, .boot_id = boot_id(), .socket = "/socket"}));
    ASSERT_TRUE(state_->attempt(not_started_).make(""));
    devices_.emplace(loop_, std::vector<engine::SlotDevice>{{"GPU-aaaa", "Fake GPU", 0, 1000 * mebibyte}},
                     "GPU",
                     DeviceLook{.command = {HPSEARCH_WORKER_BINARY, "--list-devices", "--slots", "nvidia"}},
                     [](const DeviceReport&) {});
    devices_->hold(key_, {SlotIndex{0}}, {mark_of("/socket")});
    devices_->look();
  }
  void TearDown() override {
    ::kill(program_, SIGKILL);
    ::waitpid(program_, nullptr, 0);
    ::unsetenv("HPSEARCH_NVML_LIBRARY");
    ::unsetenv("FAKE_NVML");
  }

  /// The first figures that `enough` accepts.
  Utilization first(const std::function<bool(const Utilization&)>& enough) {
    Utilization found;
    UtilizationWatch watch(
        loop_, *state_, *devices_, 20ms,
        [this] {
          return std::vector{key_, not_started_};
        },
        [&](const AttemptsMeasured& measured) {
          EXPECT_FALSE(measured.now.contains(not_started_));
          const auto now = measured.now.find(key_);
          if (now != measured.now.end() && enough(now->second)) {
            found = now->second;
            loop_.stop();
          }
        });
    loop_.run();
    watch.write(key_);
    return found;
  }
  std::vector<Utilization> stored() const {
    const auto text = state_->attempt(key_).read("utilization.log", 4 * mebibyte);
    return text ? proto::utilization_from(*text) : std::vector<Utilization>();
  }

  Scratch scratch_;
  net::Loop loop_;
  const AttemptKey key_{ExperimentId{1}, TrialNumber{2}, AttemptNumber{1}, LeaseId{9}};
  const AttemptKey not_started_{ExperimentId{1}, TrialNumber{3}, AttemptNumber{1}, LeaseId{10}};
  pid_t program_ = 0;
  std::optional<WorkerState> state_;
  std::optional<SlotDevices> devices_;
};

TEST_F(Watching, MeasuresProcessesAndDevices) {
  const Utilization used =
      first([](const Utilization& now) { return now.cpu_ms.value_or(0) > 0 && !now.devices.empty(); });
  EXPECT_GT(used.ms, 0U);
  EXPECT_GT(used.memory_bytes.value_or(0), 0U);
  ASSERT_EQ(used.devices.size(), 1U);
  EXPECT_EQ(used.devices[0].index, 0U);
  EXPECT_EQ(used.devices[0].busy_ms, used.ms * 25 / 100);
  EXPECT_EQ(used.devices[0].memory_bytes, 600 * mebibyte);
  ASSERT_FALSE(stored().empty());
  EXPECT_EQ(stored().back(), used);
}

TEST_F(Watching, NextWorkerContinuesTheSeries) {
  first([](const Utilization&) { return true; });
  const std::vector<Utilization> before = stored();
  ASSERT_FALSE(before.empty());
  const Utilization last = first([](const Utilization&) { return true; });
  const std::vector<Utilization> after = stored();
  ASSERT_EQ(after.size(), before.size() + 1);
  EXPECT_EQ(std::vector(after.begin(), after.end() - 1), before);
  EXPECT_EQ(after.back(), last);
}

TEST_F(Watching, DriverWithoutAnAnswerMakesFiguresAbsent) {
  write_text(scratch_.path() / "gpus", "init=9\n");
  devices_->look();
  while (devices_->last_report().problem.empty()) {
    const auto soon = loop_.after(5ms, [this] { loop_.stop(); });
    loop_.run();
  }
  const Utilization used = first([](const Utilization&) { return true; });
  EXPECT_TRUE(used.devices.empty());
  EXPECT_GT(used.memory_bytes.value_or(0), 0U);
}

}  // namespace
}  // namespace hpsearch::workers
