#include "cli/doctor/checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace hpsearch::cli {
namespace {

constexpr std::uint64_t gigabyte = 1'000'000'000;

api::Worker healthy_worker() {
  api::Worker worker;
  worker.name = "node-1";
  worker.present = true;
  worker.connected = true;
  worker.slots = 4;
  worker.pool = "default";
  worker.kills_by = "cgroup";
  worker.version = "0.1.0";
  return worker;
}

/// A cluster without a problem: no check finds one.
Facts healthy() {
  Facts facts;
  MachineFacts& machine = facts.machine;
  machine.version = "0.1.0";
  machine.uid = 1000;
  machine.now = 1'800'000'000;
  machine.clock_is_synchronized = true;
  machine.host = "head";
  machine.addresses = {"10.0.0.1"};
  machine.name_of_address = "head.example.org";
  machine.proxies = {{"http_proxy", true}};
  machine.memory_available = 8 * gigabyte;
  machine.open_files = 524'288;
  machine.rclone = "1.60.1";
  machine.python_client = "0.1.0";

  StateFacts& state = facts.state.emplace();
  state.directory = {"/var/lib/hpsearch", 0700, 1000};
  state.secrets = {{"/var/lib/hpsearch/curve.key", 0600, 1000}};
  state.free_bytes = 100 * gigabyte;
  state.total_bytes = 200 * gigabyte;
  state.is_locked = true;
  state.has_addresses = true;
  state.sync_millis.assign(200, 0.5);
  state.store_format = 4;
  state.own_store_format = 4;
  state.store_bytes = gigabyte;
  state.store_age_days = 10;
  state.certificate = SeenCertificate{"", 300 * 86'400, true};
  state.checkpoints = SeenFile{"/var/lib/hpsearch/checkpoints", 0700, 1000};
  state.checkpoint_owners = {1000};
  state.worker_keys = {{"node-1"}};

  DaemonFacts& daemon = facts.daemon.emplace();
  daemon.address = "unix:///run/hpsearch/api.sock";
  daemon.status.version = "0.1.0";
  daemon.status.uptime_seconds = 1'000;
  daemon.status.storage.state = "ample";
  daemon.metrics = {{"process_open_fds", 20},
                    {"process_max_fds", 1'000},
                    {"process_start_time_seconds", 1'799'999'000},
                    {"hpsearch_store_commit_seconds_bucket{le=\"0.01\"}", 100},
                    {"hpsearch_store_commit_seconds_bucket{le=\"+Inf\"}", 100},
                    {"hpsearch_event_loop_lag_seconds_bucket{le=\"0.01\"}", 100},
                    {"hpsearch_event_loop_lag_seconds_bucket{le=\"+Inf\"}", 100},
                    {"hpsearch_backup_age_seconds", 3'600}};
  daemon.configuration = api::Configuration{{{"state.directory", {"/var/lib/hpsearch"}, "--state-dir"}}};
  daemon.workers = {healthy_worker()};
  api::Queue queue;
  queue.name = "gpu";
  queue.state = "active";
  daemon.queues = {queue};
  api::QueueCheck check;
  check.would_start = true;
  daemon.queue_checks.emplace("gpu", check);
  api::Token token;
  token.name = "ci";
  token.expires = 1'800'000'000 + 30 * 86'400.0;
  daemon.tokens = {{token}};

  WorkerFacts& worker = facts.worker.emplace();
  worker.has_control_groups = true;
  worker.may_make_control_groups = true;
  worker.has_nvidia_devices = true;
  worker.nvidia_driver = "550.54.14";
  worker.runtimes = {"podman"};
  worker.shared_memory = 8 * gigabyte;
  worker.processes = 100'000;
  worker.directory = SeenFile{"/var/lib/hpsearch-worker", 0700, 1000};
  worker.free_bytes = 100 * gigabyte;
  worker.total_bytes = 200 * gigabyte;
  worker.joined = "tcp://head:8078";
  worker.slot_table = SeenFile{"/tmp/hpsearch-slots-1000", 0700, 1000};
  return facts;
}

Finding finding_of(const std::string& check, const Facts& facts) {
  for (CheckedFinding& one : judge(facts)) {
    if (one.check == check) {
      return one.finding;
    }
  }
  ADD_FAILURE() << "no check " << check;
  return {};
}

struct Problem {
  const char* check;
  Verdict verdict;
  const char* finding;  ///< A part of the sentence.
  void (*make)(Facts& facts);
};

const Problem problems[] = {
    {"clock-synchronized", Verdict::warning, "not synchronized",
     [](Facts& facts) { facts.machine.clock_is_synchronized = false; }},
    {"clock-year", Verdict::error, "before 2020", [](Facts& facts) { facts.machine.now = 1'000'000'000; }},
    {"host-name", Verdict::warning, "head, has no address",
     [](Facts& facts) { facts.machine.addresses.clear(); }},
    {"host-of-address", Verdict::warning, "10.0.0.1 has no name",
     [](Facts& facts) { facts.machine.name_of_address.reset(); }},
    {"host-of-address", Verdict::warning, "has the name other.example.org",
     [](Facts& facts) { facts.machine.name_of_address = "other.example.org"; }},
    {"proxies", Verdict::warning, "http_proxy",
     [](Facts& facts) { facts.machine.proxies["http_proxy"] = false; }},
    {"memory", Verdict::warning, "of memory",
     [](Facts& facts) { facts.machine.memory_available = 300'000'000; }},
    {"memory", Verdict::error, "of memory",
     [](Facts& facts) { facts.machine.memory_available = 50'000'000; }},
    {"open-files", Verdict::error, "256 open files", [](Facts& facts) { facts.machine.open_files = 256; }},
    {"open-files", Verdict::warning, "1024 open files",
     [](Facts& facts) { facts.machine.open_files = 1'024; }},
    {"rclone", Verdict::warning, "1.45", [](Facts& facts) { facts.machine.rclone = "1.45.0"; }},
    {"python-client", Verdict::warning, "0.0.9", [](Facts& facts) { facts.machine.python_client = "0.0.9"; }},
    {"unit-percent", Verdict::error, "hpsearchd.service",
     [](Facts& facts) { facts.machine.units_with_percent = {"/etc/systemd/system/hpsearchd.service"}; }},

    {"state-file-system", Verdict::warning, "NFS",
     [](Facts& facts) { facts.state->network_file_system = "NFS"; }},
    {"state-file-system", Verdict::error, "SMB",
     [](Facts& facts) {
       facts.state->network_file_system = "SMB";
       facts.state->is_trusted_on_request = true;
     }},
    {"state-space", Verdict::warning, "3.0 GB", [](Facts& facts) { facts.state->free_bytes = 3 * gigabyte; }},
    {"state-space", Verdict::error, "0 B", [](Facts& facts) { facts.state->free_bytes = 0; }},
    {"state-permissions", Verdict::error, "0755", [](Facts& facts) { facts.state->directory.mode = 0755; }},
    {"state-permissions", Verdict::warning, "0750", [](Facts& facts) { facts.state->directory.mode = 0750; }},
    {"state-owner", Verdict::error, "events.db",
     [](Facts& facts) {
       facts.state->of_other_users = {{"/var/lib/hpsearch/events.db", 0600, 0}};
     }},
    {"secret-files", Verdict::error, "curve.key (0640)",
     [](Facts& facts) { facts.state->secrets.front().mode = 0640; }},
    {"state-lock", Verdict::warning, "node-7", [](Facts& facts) { facts.state->owner_elsewhere = "node-7"; }},
    {"state-lock", Verdict::warning, "does not listen",
     [](Facts& facts) { facts.state->has_addresses = false; }},
    {"sync-time", Verdict::error, "120 ms", [](Facts& facts) { facts.state->sync_millis.assign(200, 120); }},
    {"sync-time", Verdict::warning, "300 ms",
     [](Facts& facts) {
       std::fill(facts.state->sync_millis.begin() + 190, facts.state->sync_millis.end(), 300);
     }},
    {"store-format", Verdict::error, "format 5", [](Facts& facts) { facts.state->store_format = 5; }},
    {"store-format", Verdict::error, "format 3", [](Facts& facts) { facts.state->store_format = 3; }},
    {"store-growth", Verdict::warning, "in 20 days",
     [](Facts& facts) { facts.state->store_bytes = 50 * gigabyte; }},
    {"store-growth", Verdict::error, "in 2 days",
     [](Facts& facts) { facts.state->store_bytes = 500 * gigabyte; }},
    {"store-log", Verdict::warning, "write-ahead log",
     [](Facts& facts) { facts.state->store_log_bytes = 2 * gigabyte; }},
    {"context-bytes", Verdict::warning, "contexts",
     [](Facts& facts) { facts.state->context_bytes = 150 * gigabyte; }},
    {"certificate", Verdict::error, "no match",
     [](Facts& facts) { facts.state->certificate->problem = "no match"; }},
    {"certificate", Verdict::error, "expired",
     [](Facts& facts) { facts.state->certificate->seconds_left = -1; }},
    {"certificate", Verdict::warning, "5 days",
     [](Facts& facts) { facts.state->certificate->seconds_left = 5 * 86'400; }},
    {"certificate-name", Verdict::warning, "head",
     [](Facts& facts) { facts.state->certificate->names_this_host = false; }},
    {"checkpoint-root", Verdict::error, "checkpoints",
     [](Facts& facts) { facts.state->checkpoints_are_writable = false; }},
    {"checkpoint-owners", Verdict::warning, "uid 1007",
     [](Facts& facts) {
       facts.state->checkpoint_owners = {1000, 1007};
     }},

    {"daemon-answers", Verdict::error, "nothing there",
     [](Facts& facts) { facts.daemon->problem = "nothing there"; }},
    {"daemon-ready", Verdict::error, "storage", [](Facts& facts) { facts.daemon->not_ready = {"storage"}; }},
    {"daemon-version", Verdict::warning, "0.0.9",
     [](Facts& facts) { facts.daemon->status.version = "0.0.9"; }},
    {"daemon-storage", Verdict::warning, "low",
     [](Facts& facts) { facts.daemon->status.storage.state = "low"; }},
    {"daemon-storage", Verdict::error, "full",
     [](Facts& facts) { facts.daemon->status.storage.state = "full"; }},
    {"daemon-descriptors", Verdict::error, "900 of 1000",
     [](Facts& facts) { facts.daemon->metrics["process_open_fds"] = 900; }},
    {"daemon-clock", Verdict::warning, "by 100 s", [](Facts& facts) { facts.machine.now += 100; }},
    {"commit-time", Verdict::warning, "longer",
     [](Facts& facts) { facts.daemon->metrics["hpsearch_store_commit_seconds_bucket{le=\"0.01\"}"] = 90; }},
    {"loop-lag", Verdict::warning, "late",
     [](Facts& facts) { facts.daemon->metrics["hpsearch_event_loop_lag_seconds_bucket{le=\"0.01\"}"] = 90; }},
    {"http-open", Verdict::warning, "http.open is on (/etc/hpsearch/hpsearchd.yaml:3)",
     [](Facts& facts) {
       facts.daemon->configuration->options = {{"http.open", {"true"}, "/etc/hpsearch/hpsearchd.yaml:3"}};
     }},
    {"workers-open", Verdict::warning, "workers.open is on (--workers-open)",
     [](Facts& facts) {
       facts.daemon->configuration->options = {{"workers.open", {"true"}, "--workers-open"}};
     }},
    {"tokens", Verdict::warning, "ci", [](Facts& facts) { facts.daemon->tokens->front().expires.reset(); }},
    {"token-expiry", Verdict::warning, "ci",
     [](Facts& facts) { facts.daemon->tokens->front().expires = 1'800'000'000 + 86'400.0; }},
    {"worker-keys", Verdict::warning, "node-9",
     [](Facts& facts) { facts.state->worker_keys->push_back("node-9"); }},
    {"workers-lost", Verdict::warning, "node-1",
     [](Facts& facts) { facts.daemon->workers.front().present = false; }},
    {"workers-silent", Verdict::warning, "node-1",
     [](Facts& facts) { facts.daemon->workers.front().suspect = true; }},
    {"worker-versions", Verdict::warning, "node-1",
     [](Facts& facts) { facts.daemon->workers.front().version = "0.0.9"; }},
    {"withdrawn-slots", Verdict::warning, "node-1",
     [](Facts& facts) { facts.daemon->workers.front().slots_withdrawn = 1; }},
    {"leaked-processes", Verdict::warning, "node-1",
     [](Facts& facts) { facts.daemon->workers.front().leaked_processes.emplace_back(); }},
    {"orphaned-attempts", Verdict::warning, "node-1",
     [](Facts& facts) { facts.daemon->workers.front().on_hold.emplace_back(); }},
    {"checkpoint-place", Verdict::error, "node-1",
     [](Facts& facts) { facts.daemon->workers.front().checkpoint_problem = "no such directory"; }},
    {"control-groups", Verdict::warning, "node-1",
     [](Facts& facts) { facts.daemon->workers.front().kills_by = "process table"; }},
    {"quarantine", Verdict::error, "4 of 4 slots of pool default",
     [](Facts& facts) { facts.daemon->workers.front().quarantined = "by a user"; }},
    {"quarantine", Verdict::warning, "1 of 4 slots",
     [](Facts& facts) { facts.daemon->workers.front().slots_quarantined = 1; }},
    {"queues", Verdict::error, "gpu (3 failed)",
     [](Facts& facts) { facts.daemon->queues.front().why = "3 failed"; }},
    {"queues", Verdict::warning, "gpu (no module)",
     [](Facts& facts) {
       facts.daemon->queues.front().failures = 1;
       facts.daemon->queues.front().last_failure = "no module";
     }},
    {"queue-checks", Verdict::error, "gpu (no such partition)",
     [](Facts& facts) {
       facts.daemon->queue_checks["gpu"]->would_start = false;
       facts.daemon->queue_checks["gpu"]->findings = {"no such partition"};
     }},
    {"queue-checks", Verdict::skipped, "in time for gpu",
     [](Facts& facts) { facts.daemon->queue_checks["gpu"].reset(); }},
    {"backup-age", Verdict::warning, "no backup",
     [](Facts& facts) { facts.daemon->metrics.erase("hpsearch_backup_age_seconds"); }},
    {"backup-age", Verdict::warning, "old",
     [](Facts& facts) { facts.daemon->metrics["hpsearch_backup_age_seconds"] = 200'000; }},
    {"refused-reports", Verdict::warning, "3 reports",
     [](Facts& facts) { facts.daemon->metrics["hpsearch_reports_refused_total"] = 3; }},
    {"refused-workers", Verdict::warning, "5 times",
     [](Facts& facts) { facts.daemon->metrics["hpsearch_worker_refused_total{why=\"key\"}"] = 5; }},

    {"worker-programs", Verdict::error, "hpsearch-shim",
     [](Facts& facts) { facts.worker->missing_programs = {"hpsearch-shim"}; }},
    {"own-control-groups", Verdict::warning, "not mounted",
     [](Facts& facts) { facts.worker->has_control_groups = false; }},
    {"own-control-groups", Verdict::warning, "may not make",
     [](Facts& facts) { facts.worker->may_make_control_groups = false; }},
    {"nvidia-driver", Verdict::error, "does not answer",
     [](Facts& facts) { facts.worker->nvidia_driver.reset(); }},
    {"nvidia-persistence", Verdict::warning, "GPU 0",
     [](Facts& facts) { facts.worker->without_persistence = {"GPU 0"}; }},
    {"xid-errors", Verdict::warning, "Xid",
     [](Facts& facts) { facts.worker->xid_errors = {"NVRM: Xid 79"}; }},
    {"devices", Verdict::error, "no library",
     [](Facts& facts) { facts.worker->device_problem = "no library"; }},
    {"containers", Verdict::warning, "docker (permission denied)",
     [](Facts& facts) {
       facts.worker->runtime_problems = {{"docker", "permission denied"}};
     }},
    {"shared-memory", Verdict::warning, "67.1 MB",
     [](Facts& facts) { facts.worker->shared_memory = 67'108'864; }},
    {"shared-memory", Verdict::warning, "no /dev/shm",
     [](Facts& facts) { facts.worker->shared_memory.reset(); }},
    {"processes", Verdict::warning, "512 processes", [](Facts& facts) { facts.worker->processes = 512; }},
    {"worker-directory", Verdict::error, "0755", [](Facts& facts) { facts.worker->directory->mode = 0755; }},
    {"worker-directory", Verdict::error, "noexec",
     [](Facts& facts) { facts.worker->directory_forbids_programs = true; }},
    {"worker-space", Verdict::error, "0 B", [](Facts& facts) { facts.worker->free_bytes = 0; }},
    {"joined-daemon", Verdict::error, "refused",
     [](Facts& facts) { facts.worker->joined_problem = "refused"; }},
    {"slot-table", Verdict::error, "uid 7", [](Facts& facts) { facts.worker->slot_table->uid = 7; }},
    {"slot-table", Verdict::error, "0777", [](Facts& facts) { facts.worker->slot_table->mode = 0777; }},
};

TEST(DoctorChecks, FindNothingWhereNothingIsWrong) {
  for (const CheckedFinding& one : judge(healthy())) {
    EXPECT_EQ(one.finding.verdict, Verdict::good) << one.check << ": " << one.finding.finding;
    EXPECT_EQ(one.finding.remedy, "") << one.check;
    EXPECT_NE(one.finding.finding, "") << one.check;
  }
}

TEST(DoctorChecks, EachFindsItsProblem) {
  for (const Problem& problem : problems) {
    Facts facts = healthy();
    problem.make(facts);
    const Finding finding = finding_of(problem.check, facts);
    EXPECT_EQ(finding.verdict, problem.verdict) << problem.check << ": " << finding.finding;
    EXPECT_THAT(finding.finding, testing::HasSubstr(problem.finding)) << problem.check;
    EXPECT_EQ(finding.remedy.empty(), problem.verdict == Verdict::skipped) << problem.check;
  }
}

TEST(DoctorChecks, EachHasAProblemThatItFinds) {
  std::set<std::string_view> found;
  for (const Problem& problem : problems) {
    found.insert(problem.check);
  }
  std::set<std::string_view> names;
  for (const Check& check : all_checks()) {
    EXPECT_TRUE(names.insert(check.name).second) << check.name << " stands twice";
    EXPECT_TRUE(found.contains(check.name)) << check.name << " has no problem in the table";
    EXPECT_TRUE(check.about.ends_with('.')) << check.name;
  }
  EXPECT_GE(names.size(), 45U);
}

TEST(DoctorChecks, JudgeOnlyWhatWasLookedAt) {
  Facts facts = healthy();
  facts.state.reset();
  facts.daemon.reset();
  facts.worker.reset();
  EXPECT_EQ(judge(facts).size(), machine_checks().size());
}

TEST(DoctorChecks, SkipADaemonThatDoesNotAnswer) {
  Facts facts = healthy();
  facts.daemon = DaemonFacts{};
  facts.daemon->problem = "no daemon answers";
  for (const CheckedFinding& one : judge(facts)) {
    const auto checks = daemon_checks();
    const bool is_of_daemon = std::any_of(checks.begin(), checks.end(),
                                          [&one](const Check& check) { return check.name == one.check; });
    if (is_of_daemon) {
      EXPECT_EQ(one.finding.verdict, one.check == "daemon-answers" ? Verdict::error : Verdict::skipped)
          << one.check;
    }
  }
}

TEST(DoctorChecks, TheWorstVerdictCounts) {
  const std::vector<CheckedFinding> findings{{"a", good("x")}, {"b", warning("x", "y")}, {"c", skipped("x")}};
  EXPECT_EQ(worst_of(findings), Verdict::warning);
  EXPECT_EQ(worst_of({}), Verdict::good);
}

}  // namespace
}  // namespace hpsearch::cli
