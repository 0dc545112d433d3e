#include "daemon/metrics/daemon_metrics.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "daemon/daemon_fixture.hpp"

namespace hpsearch::daemon {
namespace {

class DaemonMetrics : public testing::Test {
 protected:
  [[nodiscard]] std::string page() const {
    return daemon_metrics({.runtime = daemon_.runtime.get(), .sessions = daemon_.sessions.get()}).take();
  }
  static void expect_lines(const std::string& page, std::initializer_list<const char*> lines) {
    for (const char* line : lines) {
      EXPECT_NE(page.find("\n" + std::string(line) + "\n"), std::string::npos) << line << "\nin\n" << page;
    }
  }
  void change_quota(const std::string& workspace, const engine::Quota& quota) {
    const auto changed = daemon_.runtime->perform(engine::ChangeQuota{workspace, quota});
    ASSERT_TRUE(changed) << changed.error().message;
  }
  void submit_as(const std::string& owner) {
    engine::CreateExperiment command;
    command.config = small_search(1);
    command.owner = owner;
    const auto created = daemon_.runtime->perform(std::move(command));
    ASSERT_TRUE(created) << created.error().message;
  }

  DaemonFixture daemon_;
};

TEST_F(DaemonMetrics, SlotsInUseAreBesideTheirLimits) {
  change_quota("default", {.max_slots = 8, .max_slots_per_user = 3});
  ScriptedWorker worker(daemon_);
  worker.slots = 2;
  worker.join();
  submit_as("ann");
  submit_as("bob");
  worker.wait_for<proto::Lease>(2);
  expect_lines(page(), {R"(hpsearch_workspace_slots{workspace="default"} 2)",
                        R"(hpsearch_workspace_slots_limit{workspace="default"} 8)",
                        R"(hpsearch_owner_slots{workspace="default",owner="ann"} 1)",
                        R"(hpsearch_owner_slots{workspace="default",owner="bob"} 1)",
                        R"(hpsearch_owner_slots_limit{workspace="default"} 3)"});
}

TEST_F(DaemonMetrics, OwnersBeyondTheFirstFiftyAreSummed) {
  constexpr std::uint64_t owners = 60;
  ScriptedWorker worker(daemon_);
  worker.slots = owners;
  worker.join();
  for (std::uint64_t i = 0; i < owners; ++i) {
    submit_as("owner" + std::to_string(100 + i));
  }
  worker.wait_for<proto::Lease>(owners);
  const std::string text = page();
  expect_lines(text, {R"(hpsearch_owner_slots{workspace="default",owner="owner149"} 1)",
                      R"(hpsearch_owner_slots{workspace="other",owner="other"} 10)",
                      R"(hpsearch_workspace_slots{workspace="default"} 60)"});
  EXPECT_EQ(text.find("owner150"), std::string::npos);
}

TEST_F(DaemonMetrics, LimitWithoutAValueHasNoSample) {
  EXPECT_EQ(page().find("hpsearch_workspace_slots_limit{"), std::string::npos);
  EXPECT_EQ(page().find("hpsearch_owner_slots_limit{"), std::string::npos);
}

TEST_F(DaemonMetrics, WorkersAreCountedByVersionAndAttemptsOnHoldAreCounted) {
  ScriptedWorker old(daemon_, "old");
  proto::Hello hello = old.greeting();
  hello.version = "0.1.0";
  hello.held = {
      {{engine::ExperimentId(77), engine::TrialNumber(0), engine::AttemptNumber(1), engine::LeaseId(500)},
       false,
       3,
       engine::Lsn(0)}};
  old.send(hello);
  old.wait_for<proto::Welcome>();
  ScriptedWorker other(daemon_, "new");
  hello = other.greeting();
  hello.version = "0.2.0";
  other.send(hello);
  other.wait_for<proto::Welcome>();
  expect_lines(page(), {R"(hpsearch_worker_versions{version="0.1.0"} 1)",
                        R"(hpsearch_worker_versions{version="0.2.0"} 1)", "hpsearch_attempts_on_hold 1"});
}

TEST_F(DaemonMetrics, DevicesAreCountedOnceHoweverManySlotsTheyHave) {
  ScriptedWorker worker(daemon_);
  worker.slots = 3;
  proto::Hello hello = worker.greeting();
  hello.slot_kind = "gpu";
  hello.devices = {{"GPU-a", "NVIDIA H200", 0, 1000},
                   {"GPU-a", "NVIDIA H200", 0, 1000},
                   {"GPU-b", "NVIDIA H200", 1, 1000}};
  hello.troubles = {{engine::SlotIndex(2), "Xid 79"}};
  worker.send(hello);
  worker.wait_for<proto::Welcome>();
  expect_lines(page(),
               {R"(hpsearch_devices{state="working",kind="gpu"} 1)",
                R"(hpsearch_devices{state="broken",kind="gpu"} 1)",
                R"(hpsearch_device_memory_bytes{kind="gpu"} 2000)", "hpsearch_slots_withdrawn_total 1"});
  EXPECT_EQ(page().find("hpsearch_device_busy_ratio{"), std::string::npos) << "it was not measured yet";
  proto::Progress progress;
  progress.key = {engine::ExperimentId(1), engine::TrialNumber(0), engine::AttemptNumber(1),
                  engine::LeaseId(1)};
  progress.utilization = proto::Utilization{.at_ms = 5'000, .ms = 4'000, .devices = {{0, 1'000, 500}}};
  proto::Beat beat;
  beat.progress = {progress};
  beat.troubles = hello.troubles;
  worker.send(beat);
  daemon_.pump_until(
      [&] { return page().find(R"(hpsearch_device_busy_ratio{kind="gpu"} 0.25)") != std::string::npos; });
}

TEST_F(DaemonMetrics, ValuesThatAreNotKnownHaveNoSample) {
  const std::string text = page();
  for (const char* name : {"hpsearch_certificate_remaining_seconds ", "hpsearch_token_remaining_seconds ",
                           "hpsearch_checkpoint_free_bytes ", "hpsearch_backup_age_seconds "}) {
    EXPECT_EQ(text.find("\n" + std::string(name)), std::string::npos) << name;
  }
  expect_lines(daemon_metrics({.backup_failures = 3,
                               .certificate_left = engine::Duration::seconds(-5),
                               .token_left = engine::Duration::seconds(60),
                               .audit_failures = 2,
                               .checkpoint_free_bytes = 0,
                               .undeleted_checkpoints = 4})
                   .take(),
               {"hpsearch_backup_failures_total 3", "hpsearch_certificate_remaining_seconds -5",
                "hpsearch_token_remaining_seconds 60", "hpsearch_audit_write_failures_total 2",
                "hpsearch_checkpoint_free_bytes 0", "hpsearch_checkpoints_undeleted 4"});
}

}  // namespace
}  // namespace hpsearch::daemon
