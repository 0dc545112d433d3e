#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/jobs/contract/device_kinds.hpp"
#include "hpsearch/proto/api/field_types.hpp"
#include "hpsearch/proto/sentences/language.hpp"

namespace hpsearch::proto {
struct Utilization;
}  // namespace hpsearch::proto

namespace hpsearch::engine {
struct AttemptKey;
struct SlotDevice;
struct WorkerRecord;
}  // namespace hpsearch::engine

namespace hpsearch::api {

struct AttemptName {
  static constexpr Schema schema{"AttemptName", "An attempt."};
  engine::ExperimentId experiment{};
  engine::TrialNumber trial{};
  engine::AttemptNumber attempt{};

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment, "ID of the experiment.");
    fields("trial", self.trial, "Number of the trial.");
    fields("attempt", self.attempt, "Number of the attempt.");
  }
};

struct LeakedProcesses : AttemptName {
  static constexpr Schema schema{"LeakedProcesses", "An attempt whose processes did not end."};
  std::vector<engine::SlotIndex> slots{};
  bool released = false;

  static void list_fields(auto& fields, auto& self) {
    AttemptName::list_fields(fields, self);
    fields("slots", self.slots, "Slots that its processes still occupy.");
    fields("released", self.released, "Whether an operator allows the slots to be used nevertheless.");
  }
};

struct Device {
  static constexpr Schema schema{"Device", "The device of a slot."};
  std::string uuid{};
  std::string name{};
  std::uint64_t index = 0;
  std::uint64_t memory_bytes = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("uuid", self.uuid, "UUID of the device, as its driver gives it.");
    fields("name", self.name, "Name of the device's model.");
    fields("index", self.index, "Index of the device on its machine.");
    fields("memory_bytes", self.memory_bytes, "Memory of the device.");
  }
};

struct WithdrawnSlot {
  static constexpr Schema schema{"WithdrawnSlot", "A slot that the worker withdrew."};
  engine::SlotIndex slot{};
  std::string why{};
  bool released = false;

  static void list_fields(auto& fields, auto& self) {
    fields("slot", self.slot, "Number of the slot on the worker.");
    fields("why", self.why, "Why the worker withdrew it.");
    fields("released", self.released, "Whether an operator allows the slot to be used nevertheless.");
  }
};

struct TakenSlot {
  static constexpr Schema schema{"TakenSlot", "A slot that another search of the worker's machine has."};
  engine::SlotIndex slot{};
  std::string why{};

  static void list_fields(auto& fields, auto& self) {
    fields("slot", self.slot, "Number of the slot on the worker.");
    fields("why", self.why, "Which search has it, or gets it next, or why it is left out.");
  }
};

struct HeldAttempt : AttemptName {
  static constexpr Schema schema{"HeldAttempt",
                                 "An attempt that runs on the worker and is not in the store."};
  std::uint64_t lease = 0;
  std::string label{};
  bool exited = false;

  static void list_fields(auto& fields, auto& self) {
    AttemptName::list_fields(fields, self);
    fields("lease", self.lease, "Lease of the attempt.");
    fields("label", self.label, "EXPERIMENT/TRIAL/ATTEMPT for people.");
    fields("exited", self.exited, "Whether its program has ended.");
  }
};

struct DeviceLoad {
  static constexpr Schema schema{"DeviceLoad", "How much a device is used now."};
  std::uint64_t index = 0;
  std::optional<double> utilization{};
  std::optional<std::uint64_t> memory_bytes{};

  static void list_fields(auto& fields, auto& self) {
    fields("index", self.index, "Index of the device on its machine.");
    fields("utilization", self.utilization, "Percent of the time; null: not measured.");
    fields("memory_bytes", self.memory_bytes, "Its memory in use; null: not measured.");
  }
};

struct AttemptLoad : AttemptName {
  static constexpr Schema schema{"AttemptLoad", "How much of its machine an attempt uses now."};
  double at = 0;
  std::optional<double> cores{};
  std::optional<std::uint64_t> memory_bytes{};
  std::vector<DeviceLoad> devices{};

  static void list_fields(auto& fields, auto& self) {
    AttemptName::list_fields(fields, self);
    fields("at", self.at, "When it was measured, by the worker's clock.");
    fields("cores", self.cores, "Number of cores that its processes keep busy; null: not measured.");
    fields("memory_bytes", self.memory_bytes, "Memory of its processes; null: not measured.");
    fields("devices", self.devices, "Load of the devices that its slots use.");
  }
};

struct Worker {
  static constexpr Schema schema{"Worker", "A worker."};
  engine::WorkerId id{};
  std::string name{};
  std::uint64_t incarnation = 0;
  bool present = false;
  std::string slot_kind{};
  std::uint64_t slots = 0;
  std::uint64_t slots_held = 0;
  std::uint64_t unslotted = 0;
  std::optional<std::uint64_t> max_unslotted{};
  std::uint64_t slots_quarantined = 0;
  std::vector<LeakedProcesses> leaked_processes{};
  std::uint64_t slots_withdrawn = 0;
  std::vector<Device> devices{};
  std::string pool{};
  std::map<std::string, std::string> labels{};
  std::optional<std::string> allocation{};
  std::optional<double> ends_at{};
  std::vector<WithdrawnSlot> withdrawn{};
  std::vector<TakenSlot> taken{};
  std::optional<std::string> quarantined{};
  bool draining = false;
  std::vector<AttemptName> attempts{};
  std::vector<AttemptLoad> loads{};
  bool connected = false;
  bool suspect = false;
  std::optional<std::string> resting{};
  std::optional<std::string> probation{};
  std::string kills_by{};
  std::optional<std::string> host{};
  std::optional<std::string> version{};
  std::optional<double> heard_at{};
  std::optional<std::string> checkpoint_problem{};
  std::vector<HeldAttempt> on_hold{};

  static void list_fields(auto& fields, auto& self) {
    fields("id", self.id, "ID of the worker.");
    fields("name", self.name, "Name of the worker.");
    fields("incarnation", self.incarnation, "How often the worker was started.");
    fields("present", self.present, "Whether the daemon counts on the worker; false after it was lost.");
    fields("slot_kind", self.slot_kind, jobs::slot_kinds_text());
    fields("slots", self.slots, "Number of its slots.");
    fields("slots_held", self.slots_held, "Number of slots that attempts hold.");
    fields("unslotted", self.unslotted, "Number of its attempts without a slot.");
    fields("max_unslotted", self.max_unslotted, "The most attempts without a slot at once; null: no limit.");
    fields("slots_quarantined", self.slots_quarantined,
           "Number of slots that are not used because a process there survives SIGKILL.");
    fields("leaked_processes", self.leaked_processes, "The attempts whose processes survive.");
    fields("slots_withdrawn", self.slots_withdrawn,
           "Number of slots that are not used because of a problem with their devices.");
    fields("devices", self.devices, "The device of each slot; empty if slots are shares of the CPUs.");
    fields("pool", self.pool, "Pool of the worker; `default` if it names none.");
    fields("labels", self.labels, "Labels of the worker.");
    fields("allocation", self.allocation, "QUEUE/NUMBER of the allocation that it runs in; null: none.");
    fields("ends_at", self.ends_at,
           "When its allocation ends, in seconds since the epoch; null: no end is known.");
    fields("withdrawn", self.withdrawn, "The slots with a problem.");
    fields("taken", self.taken,
           "The slots that other searches of its machine have; empty unless it shares its slots.");
    fields("quarantined", self.quarantined,
           "Why the worker gets no trials until it is released; null: it is not in quarantine.");
    fields("draining", self.draining, "Whether it gets no new trials; those that run there go on.");
    fields("attempts", self.attempts, "The attempts that run on the worker.");
    fields("loads", self.loads,
           "What its running attempts use, as far as it was measured in the last minute.");
    fields("connected", self.connected, "Whether the worker has a session with the daemon.");
    fields("suspect", self.suspect,
           "Whether the worker has no session or was silent for 45 s; it gets no new trials then.");
    fields("resting", self.resting,
           "Why and how long the connected worker gets no trials; null if it gets them.");
    fields("probation", self.probation,
           "When the quarantined worker is tried with one trial; null if it is not.");
    fields("kills_by", self.kills_by,
           "How it finds all processes of a program: `cgroup` or `process table`.");
    fields("host", self.host,
           "Name of its machine; null if it has not connected since the daemon was started.");
    fields("version", self.version,
           "Version of its program; null if it has not connected since the daemon was started.");
    fields("heard_at", self.heard_at,
           "When its last message came; null if none came since the daemon was started.");
    fields("checkpoint_problem", self.checkpoint_problem,
           "Why it can't store checkpoints of experiments without `checkpoint_storage`; null if it can.");
    fields("on_hold", self.on_hold, "Attempts that run on the worker and are not in the store.");
  }
};

struct WorkerPage {
  static constexpr Schema schema{"WorkerPage", "Workers by number."};
  std::vector<Worker> workers{};
  std::optional<std::uint64_t> next{};

  static void list_fields(auto& fields, auto& self) {
    fields("workers", self.workers, "The workers, by ID.");
    fields("next", self.next, "The next page's `after`; null on the last page.");
  }
};

struct ForgottenWorker {
  static constexpr Schema schema{"ForgottenWorker", "A worker that was forgotten."};
  engine::WorkerId id{};
  std::string name{};

  static void list_fields(auto& fields, auto& self) {
    fields("id", self.id, "ID of the worker, which is not used again.");
    fields("name", self.name, "Name of the worker.");
  }
};

struct ForgottenWorkerPage {
  static constexpr Schema schema{"ForgottenWorkerPage", "Forgotten workers by number."};
  std::vector<ForgottenWorker> workers{};
  std::optional<std::uint64_t> next{};

  static void list_fields(auto& fields, auto& self) {
    fields("workers", self.workers, "The forgotten workers, by ID.");
    fields("next", self.next, "The next page's `after`; null on the last page.");
  }
};

struct Slot {
  static constexpr Schema schema{"Slot", "A slot of a worker."};
  engine::WorkerId worker{};
  std::string name{};
  engine::SlotIndex slot{};
  std::string kind{};
  std::string pool{};
  std::optional<Device> device{};
  OneOf<"free", "busy", "broken", "leaked", "quarantined", "draining", "away", "taken"> state{};
  std::optional<std::string> why{};
  std::optional<engine::ExperimentId> experiment{};
  std::optional<engine::TrialNumber> trial{};
  std::optional<engine::AttemptNumber> attempt{};

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker, "ID of the worker.");
    fields("name", self.name, "Name of the worker.");
    fields("slot", self.slot, "Number of the slot on the worker, from 0.");
    fields("kind", self.kind, jobs::slot_kinds_text());
    fields("pool", self.pool, "Pool of the worker.");
    fields("device", self.device, "Device of the slot; null if it is a share of the CPUs.");
    fields("state", self.state,
           "`busy`: a trial holds it; `leaked`: processes of an earlier trial did not end; `away`: its "
           "worker is not connected; `taken`: another search of its machine has it.");
    fields("why", self.why, "What is wrong with a broken slot, or who has a taken one; null otherwise.");
    fields("experiment", self.experiment,
           "ID of the experiment whose trial holds it; null also if the caller may not see it.");
    fields("trial", self.trial, "Number of the trial that holds it; null if none is shown.");
    fields("attempt", self.attempt, "Number of the attempt that holds it; null if none is shown.");
  }
};

struct SlotPage {
  static constexpr Schema schema{"SlotPage", "Slots by worker and number."};
  std::vector<Slot> slots{};
  std::optional<std::string> next{};

  static void list_fields(auto& fields, auto& self) {
    fields("slots", self.slots, "The slots, by worker and number.");
    fields("next", self.next, "The next page's `after`; null on the last page.");
  }
};

struct QuarantineRequest {
  static constexpr Schema schema{"QuarantineRequest", "Why the worker gets no trials."};
  std::optional<std::string> why{};

  static void list_fields(auto& fields, auto& self) {
    fields.maybe("why", self.why, "What is wrong with the worker, for people.");
  }
};

[[nodiscard]] Device device_of(const engine::SlotDevice& device);
[[nodiscard]] AttemptLoad load_of(const engine::AttemptKey& attempt, const proto::Utilization& last);
/// Without the fields that only the daemon knows: `loads` and those after it.
[[nodiscard]] Worker worker_of(const engine::WorkerRecord& worker,
                               sentences::Language language = sentences::Language::english);

}  // namespace hpsearch::api
