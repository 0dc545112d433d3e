#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field attempt_fields[] = {{"experiment", "integer"}, {"trial", "integer"}, {"attempt", "integer"}};
constexpr Field leak_fields[] = {{"slots", "[integer]"}, {"released", "flag"}};
constexpr Field device_fields[] = {
    {"uuid", "text"}, {"name", "text"}, {"index", "integer"}, {"memory_bytes", "integer"}};
constexpr Field withdrawn_fields[] = {{"slot", "integer"}, {"why", "text"}, {"released", "flag"}};
constexpr Field hold_fields[] = {{"lease", "integer"}, {"label", "text"}, {"exited", "flag"}};
constexpr Field worker_fields[] = {
    {"id", "integer"},
    {"name", "text"},
    {"incarnation", "integer"},
    {"present", "flag"},
    {"slot_kind", "text"},
    {"slots", "integer"},
    {"slots_held", "integer"},
    {"unslotted", "integer", "Attempts without a slot."},
    {"max_unslotted", "integer?"},
    {"slots_quarantined", "integer"},
    {"leaked_processes", "[LeakedProcesses]"},
    {"slots_withdrawn", "integer"},
    {"devices", "[Device]"},
    {"pool", "text"},
    {"labels", "{text}"},
    {"withdrawn", "[WithdrawnSlot]"},
    {"quarantined", "text?", "Why it gets no trials."},
    {"draining", "flag", "It gets no new trials, and those that run there go on."},
    {"attempts", "[AttemptName]"},
    {"connected", "flag"},
    {"suspect", "flag"},
    {"resting", "text?"},
    {"probation", "text?", "When a quarantined worker is tried with one trial."},
    {"kills_by", "text"},
    {"host", "text?", "The name of its machine; null: it has not connected since the daemon was started."},
    {"version", "text?", "Of its program."},
    {"heard_at", "number?", "When its last message came; null: not since the daemon was started."},
    {"checkpoint_problem", "text?",
     "Why it cannot store checkpoints of experiments without `checkpoint_storage`."},
    {"on_hold", "[HeldAttempt]"},
};
constexpr Field worker_page_fields[] = {
    {"workers", "[Worker]"},
    {"next", "integer?", "The next page's `after`; null on the last page."},
};
constexpr Field forgotten_fields[] = {{"id", "integer"}, {"name", "text"}};
constexpr Field forgotten_page_fields[] = {
    {"workers", "[ForgottenWorker]"},
    {"next", "integer?", "The next page's `after`; null on the last page."},
};
constexpr Field slot_fields[] = {
    {"worker", "integer"},
    {"name", "text", "Of the worker."},
    {"slot", "integer", "Its number on the worker, from 0."},
    {"kind", "text"},
    {"pool", "text"},
    {"device", "Device?"},
    {"state", "free|busy|broken|leaked|quarantined|draining|away",
     "busy: a trial has it; leaked: processes of an earlier trial did not end; away: its worker is not "
     "connected."},
    {"why", "text?", "What is wrong with a broken one."},
    {"experiment", "integer?", "Of the trial that has it; null also where the caller may not see it."},
    {"trial", "integer?"},
    {"attempt", "integer?"},
};
constexpr Field slot_page_fields[] = {
    {"slots", "[Slot]"},
    {"next", "text?", "The next page's `after`; null on the last page."},
};
constexpr Field quarantine_fields[] = {{"why?", "text", "What is wrong with the worker."}};

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
