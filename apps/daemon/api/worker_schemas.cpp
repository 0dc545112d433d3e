#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field attempt_fields[] = {
    {"experiment", "integer", "ID of the experiment."},
    {"trial", "integer", "Number of the trial."},
    {"attempt", "integer", "Number of the attempt."},
};
constexpr Field leak_fields[] = {
    {"slots", "[integer]", "Slots that its processes still occupy."},
    {"released", "flag", "Whether an operator allows the slots to be used nevertheless."},
};
constexpr Field device_fields[] = {
    {"uuid", "text", "UUID of the device, as its driver gives it."},
    {"name", "text", "Name of the device's model."},
    {"index", "integer", "Index of the device on its machine."},
    {"memory_bytes", "integer", "Memory of the device."},
};
constexpr Field withdrawn_fields[] = {
    {"slot", "integer", "Number of the slot on the worker."},
    {"why", "text", "Why the worker withdrew it."},
    {"released", "flag", "Whether an operator allows the slot to be used nevertheless."},
};
constexpr Field hold_fields[] = {
    {"lease", "integer", "Lease of the attempt."},
    {"label", "text", "EXPERIMENT/TRIAL/ATTEMPT for people."},
    {"exited", "flag", "Whether its program has ended."},
};
constexpr Field worker_fields[] = {
    {"id", "integer", "ID of the worker."},
    {"name", "text", "Name of the worker."},
    {"incarnation", "integer", "How often the worker was started."},
    {"present", "flag", "Whether the daemon counts on the worker; false after it was lost."},
    {"slot_kind", "text", "`gpu` or `cpu`."},
    {"slots", "integer", "Number of its slots."},
    {"slots_held", "integer", "Number of slots that attempts hold."},
    {"unslotted", "integer", "Number of its attempts without a slot."},
    {"max_unslotted", "integer?", "The most attempts without a slot at once; null: no limit."},
    {"slots_quarantined", "integer",
     "Number of slots that are not used because a process there survives SIGKILL."},
    {"leaked_processes", "[LeakedProcesses]", "The attempts whose processes survive."},
    {"slots_withdrawn", "integer",
     "Number of slots that are not used because of a problem with their devices."},
    {"devices", "[Device]", "The device of each slot; empty if slots are shares of the CPUs."},
    {"pool", "text", "Pool of the worker; `default` if it names none."},
    {"labels", "{text}", "Labels of the worker."},
    {"withdrawn", "[WithdrawnSlot]", "The slots with a problem."},
    {"quarantined", "text?",
     "Why the worker gets no trials until it is released; null: it is not in quarantine."},
    {"draining", "flag", "Whether it gets no new trials; those that run there go on."},
    {"attempts", "[AttemptName]", "The attempts that run on the worker."},
    {"connected", "flag", "Whether the worker has a session with the daemon."},
    {"suspect", "flag",
     "Whether the worker has no session or was silent for 45 s; it gets no new trials then."},
    {"resting", "text?", "Why and how long the connected worker gets no trials; null if it gets them."},
    {"probation", "text?", "When the quarantined worker is tried with one trial; null if it is not."},
    {"kills_by", "text", "How it finds all processes of a program: `cgroup` or `process table`."},
    {"host", "text?", "Name of its machine; null if it has not connected since the daemon was started."},
    {"version", "text?",
     "Version of its program; null if it has not connected since the daemon was started."},
    {"heard_at", "number?", "When its last message came; null if none came since the daemon was started."},
    {"checkpoint_problem", "text?",
     "Why it can't store checkpoints of experiments without `checkpoint_storage`; null if it can."},
    {"on_hold", "[HeldAttempt]", "Attempts that run on the worker and are not in the store."},
};
constexpr Field worker_page_fields[] = {
    {"workers", "[Worker]", "The workers, by ID."},
    {"next", "integer?", "The next page's `after`; null on the last page."},
};
constexpr Field forgotten_fields[] = {
    {"id", "integer", "ID of the worker, which is not used again."},
    {"name", "text", "Name of the worker."},
};
constexpr Field forgotten_page_fields[] = {
    {"workers", "[ForgottenWorker]", "The forgotten workers, by ID."},
    {"next", "integer?", "The next page's `after`; null on the last page."},
};
constexpr Field slot_fields[] = {
    {"worker", "integer", "ID of the worker."},
    {"name", "text", "Name of the worker."},
    {"slot", "integer", "Number of the slot on the worker, from 0."},
    {"kind", "text", "`gpu` or `cpu`."},
    {"pool", "text", "Pool of the worker."},
    {"device", "Device?", "Device of the slot; null if it is a share of the CPUs."},
    {"state", "free|busy|broken|leaked|quarantined|draining|away",
     "`busy`: a trial holds it; `leaked`: processes of an earlier trial did not end; `away`: its worker is "
     "not connected."},
    {"why", "text?", "What is wrong with a broken slot; null otherwise."},
    {"experiment", "integer?",
     "ID of the experiment whose trial holds it; null also if the caller may not see it."},
    {"trial", "integer?", "Number of the trial that holds it; null if none is shown."},
    {"attempt", "integer?", "Number of the attempt that holds it; null if none is shown."},
};
constexpr Field slot_page_fields[] = {
    {"slots", "[Slot]", "The slots, by worker and number."},
    {"next", "text?", "The next page's `after`; null on the last page."},
};
constexpr Field quarantine_fields[] = {
    {"why?", "text", "What is wrong with the worker, for people."},
};

constexpr Schema worker_table[] = {
    {"AttemptName", "An attempt.", attempt_fields},
    {"LeakedProcesses", "An attempt whose processes did not end.", leak_fields, Schema::Kind::answer,
     "AttemptName"},
    {"Device", "The device of a slot.", device_fields},
    {"WithdrawnSlot", "A slot that the worker withdrew.", withdrawn_fields},
    {"HeldAttempt", "An attempt that runs on the worker and is not in the store.", hold_fields,
     Schema::Kind::answer, "AttemptName"},
    {"Worker", "A worker.", worker_fields},
    {"WorkerPage", "Workers by number.", worker_page_fields},
    {"ForgottenWorker", "A worker that was forgotten.", forgotten_fields},
    {"ForgottenWorkerPage", "Forgotten workers by number.", forgotten_page_fields},
    {"Slot", "A slot of a worker.", slot_fields},
    {"SlotPage", "Slots by worker and number.", slot_page_fields},
    {"QuarantineRequest", "Why the worker gets no trials.", quarantine_fields},
};

}  // namespace

std::span<const Schema> worker_schemas() noexcept {
  return worker_table;
}

}  // namespace hpsearch::daemon
