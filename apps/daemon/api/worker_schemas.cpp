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
    {"attempts", "[AttemptName]"},
    {"connected", "flag"},
    {"suspect", "flag"},
    {"resting", "text?"},
    {"kills_by", "text"},
    {"on_hold", "[HeldAttempt]"},
};
constexpr Field worker_page_fields[] = {
    {"workers", "[Worker]"},
    {"next", "integer?", "The next page's `after`; null on the last page."},
};
constexpr Field quarantine_fields[] = {{"why?", "text", "What is wrong with the worker."}};

constexpr Schema table[] = {
    {"AttemptName", "An attempt.", attempt_fields},
    {"LeakedProcesses", "An attempt whose processes did not end.", leak_fields, Schema::Kind::answer,
     "AttemptName"},
    {"Device", "The device of a slot.", device_fields},
    {"WithdrawnSlot", "A slot that the worker withdrew.", withdrawn_fields},
    {"HeldAttempt", "An attempt that runs on the worker and is not in the store.", hold_fields,
     Schema::Kind::answer, "AttemptName"},
    {"Worker", "A worker.", worker_fields},
    {"WorkerPage", "Workers by number.", worker_page_fields},
    {"QuarantineRequest", "Why the worker gets no trials.", quarantine_fields},
};

}  // namespace

std::span<const Schema> worker_schemas() noexcept {
  return table;
}

}  // namespace hpsearch::daemon
