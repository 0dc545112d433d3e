#pragma once

#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/proto/spell_attempt.hpp"

// The events. A tag is the event's type as it is stored and shown.

namespace hpsearch::proto {

template <>
struct Words<engine::ExperimentState> {
  static std::string_view of(engine::ExperimentState state) { return engine::name_of(state); }
  static std::optional<engine::ExperimentState> find(std::string_view word) {
    return engine::experiment_state_named(word);
  }
};

template <>
struct Words<engine::TrialState> {
  static std::string_view of(engine::TrialState state) { return engine::name_of(state); }
  static std::optional<engine::TrialState> find(std::string_view word) {
    return engine::trial_state_named(word);
  }
};

template <>
struct Words<engine::Reason::Why> {
  static std::string_view of(engine::Reason::Why why) { return engine::name_of(why); }
  static std::optional<engine::Reason::Why> find(std::string_view word) { return engine::why_named(word); }
};

template <>
struct Words<engine::ExitReason> {
  static std::string_view of(engine::ExitReason reason) { return engine::name_of(reason); }
  static std::optional<engine::ExitReason> find(std::string_view word) {
    return engine::exit_reason_named(word);
  }
};

void spell(auto& fields, Is<engine::Reason> auto& reason) {
  fields("why", reason.why);
  fields.maybe("bracket", reason.bracket);
  fields.maybe("rung", reason.rung);
  fields.maybe("rank", reason.rank);
  fields.maybe("size", reason.size);
  fields.maybe("keep", reason.keep);
  fields.maybe("cutoff", reason.cutoff);
  fields.maybe("detail", reason.detail);
}

// --- experiments ---

void spell(auto& fields, Is<engine::SourceCheckpoint> auto& source) {
  fields("experiment", source.experiment);
  fields("trial", source.trial);
  fields.maybe("step", source.step);
  fields("path", source.path);
}

template <>
inline constexpr const char* tag_of<engine::ExperimentCreated> = "experiment_created";
void spell(auto& fields, Is<engine::ExperimentCreated> auto& event) {
  fields("experiment", event.experiment);
  fields("config", event.config);
  fields.maybe("context_directory", event.context_directory);
  fields.maybe("idempotency_key", event.idempotency_key);
  fields.maybe("context_digest", event.context_digest);
  fields.maybe("context_bytes", event.context_bytes);
  fields.maybe("source", event.source);
}

template <>
inline constexpr const char* tag_of<engine::ExperimentPaused> = "experiment_paused";
void spell(auto& fields, Is<engine::ExperimentPaused> auto& event) {
  fields("experiment", event.experiment);
}

template <>
inline constexpr const char* tag_of<engine::ExperimentResumed> = "experiment_resumed";
void spell(auto& fields, Is<engine::ExperimentResumed> auto& event) {
  fields("experiment", event.experiment);
}

template <>
inline constexpr const char* tag_of<engine::LimitsChanged> = "limits_changed";
void spell(auto& fields, Is<engine::LimitsChanged> auto& event) {
  fields("experiment", event.experiment);
  fields("config", event.config);
  fields.maybe("points_given", event.points_given);
}

template <>
inline constexpr const char* tag_of<engine::ExperimentStopping> = "experiment_stopping";
void spell(auto& fields, Is<engine::ExperimentStopping> auto& event) {
  fields("experiment", event.experiment);
  fields("target", event.target);
  fields.maybe("at_once", event.at_once);
  fields.maybe("reason", event.reason);
}

template <>
inline constexpr const char* tag_of<engine::ExperimentEnded> = "experiment_ended";
void spell(auto& fields, Is<engine::ExperimentEnded> auto& event) {
  fields("experiment", event.experiment);
  fields("state", event.state);
  fields.maybe("reason", event.reason);
}

// --- trials ---

template <>
inline constexpr const char* tag_of<engine::TrialCreated> = "trial_created";
void spell(auto& fields, Is<engine::TrialCreated> auto& event) {
  fields("experiment", event.experiment);
  fields("trial", event.trial);
  fields("trial_id", event.id);
  fields("hparams", event.hparams);
  fields("length", event.length);
  fields("reason", event.reason);
}

template <>
inline constexpr const char* tag_of<engine::TrialPromoted> = "trial_promoted";
void spell(auto& fields, Is<engine::TrialPromoted> auto& event) {
  fields("experiment", event.experiment);
  fields("trial", event.trial);
  fields("length", event.length);
  fields.maybe("in_place", event.in_place);
  fields("reason", event.reason);
}

template <>
inline constexpr const char* tag_of<engine::LengthReached> = "length_reached";
void spell(auto& fields, Is<engine::LengthReached> auto& event) {
  fields("experiment", event.experiment);
  fields("trial", event.trial);
  fields("length", event.length);
  fields("step", event.step);
  fields.maybe("metric", event.metric);
}

template <>
inline constexpr const char* tag_of<engine::TrialPaused> = "trial_paused";
void spell(auto& fields, Is<engine::TrialPaused> auto& event) {
  fields("experiment", event.experiment);
  fields("trial", event.trial);
  fields("reason", event.reason);
}

template <>
inline constexpr const char* tag_of<engine::TrialQueued> = "trial_queued";
void spell(auto& fields, Is<engine::TrialQueued> auto& event) {
  fields("experiment", event.experiment);
  fields("trial", event.trial);
}

template <>
inline constexpr const char* tag_of<engine::TrialExitedEarly> = "trial_exited_early";
void spell(auto& fields, Is<engine::TrialExitedEarly> auto& event) {
  fields("experiment", event.experiment);
  fields("trial", event.trial);
  fields("exit", event.exit);
  fields.maybe("detail", event.detail);
}

template <>
inline constexpr const char* tag_of<engine::TrialEnded> = "trial_ended";
void spell(auto& fields, Is<engine::TrialEnded> auto& event) {
  fields("experiment", event.experiment);
  fields("trial", event.trial);
  fields("state", event.state);
  fields("reason", event.reason);
}

// --- attempts ---

void spell(auto& fields, Is<engine::Place> auto& place) {
  fields("worker", place.worker);
  fields("slots", place.slots);
}

template <>
inline constexpr const char* tag_of<engine::LeaseGranted> = "lease_granted";
void spell(auto& fields, Is<engine::LeaseGranted> auto& event) {
  fields("experiment", event.experiment);
  fields("trial", event.trial);
  fields("attempt", event.attempt);
  fields("worker", event.worker);
  fields("slots", event.slots);
  fields("length", event.length);
  fields.maybe("others", event.others);
  fields.maybe("port", event.port);
}

template <>
inline constexpr const char* tag_of<engine::AttemptStarted> = "attempt_started";
void spell(auto& fields, Is<engine::AttemptStarted> auto& event) {
  spell(fields, event.key);
  fields.maybe("member", event.member);
}

template <>
inline constexpr const char* tag_of<engine::MemberExited> = "member_exited";
void spell(auto& fields, Is<engine::MemberExited> auto& event) {
  spell(fields, event.key);
  fields("worker", event.worker);
  fields("exit", event.exit);
}

template <>
inline constexpr const char* tag_of<engine::MemberLost> = "member_lost";
void spell(auto& fields, Is<engine::MemberLost> auto& event) {
  spell(fields, event.key);
  fields("worker", event.worker);
  fields.maybe("why", event.why);
}

template <>
inline constexpr const char* tag_of<engine::GangEnded> = "gang_ended";
void spell(auto& fields, Is<engine::GangEnded> auto& event) {
  spell(fields, event.key);
}

template <>
inline constexpr const char* tag_of<engine::StartDelayed> = "start_delayed";
void spell(auto& fields, Is<engine::StartDelayed> auto& event) {
  fields("experiment", event.experiment);
  fields("trial", event.trial);
  fields("times", event.times);
  fields("wait_ms", event.wait);
  fields.maybe("worker", event.worker);
  fields.maybe("worker_times", event.worker_times);
  fields.maybe("worker_wait_ms", event.worker_wait);
  fields.maybe("why", event.why);
}

template <>
inline constexpr const char* tag_of<engine::StoreRestored> = "store_restored";
void spell(auto& fields, Is<engine::StoreRestored> auto& event) {
  fields("numbers_from", event.numbers_from);
}

template <>
inline constexpr const char* tag_of<engine::ReportTaken> = "report_taken";
void spell(auto& fields, Is<engine::ReportTaken> auto& event) {
  spell(fields, event.key);
  fields("seq", event.seq);
  fields("report", event.report);
}

template <>
inline constexpr const char* tag_of<engine::AttemptLost> = "attempt_lost";
void spell(auto& fields, Is<engine::AttemptLost> auto& event) {
  spell(fields, event.key);
  fields.maybe("why", event.why);
  fields.maybe("may_return", event.may_return);
}

template <>
inline constexpr const char* tag_of<engine::AttemptAdopted> = "attempt_adopted";
void spell(auto& fields, Is<engine::AttemptAdopted> auto& event) {
  spell(fields, event.key);
  fields("worker", event.worker);
  fields("slots", event.slots);
  fields("length", event.length);
  fields.maybe("upto", event.upto);
  fields.maybe("trains_on", event.trains_on);
  fields.maybe("has_unlogged_decision", event.has_unlogged_decision);
}

template <>
inline constexpr const char* tag_of<engine::CheckpointsCollected> = "checkpoints_collected";
void spell(auto& fields, Is<engine::CheckpointsCollected> auto& event) {
  fields("experiment", event.experiment);
  fields("trial", event.trial);
  fields("paths", event.paths);
}

template <>
inline constexpr const char* tag_of<engine::CheckpointsDeleted> = "checkpoints_deleted";
void spell(auto& fields, Is<engine::CheckpointsDeleted> auto& event) {
  fields("experiment", event.experiment);
  fields("paths", event.paths);
}

// --- workers ---

template <>
inline constexpr const char* tag_of<engine::WorkerJoined> = "worker_joined";
void spell(auto& fields, Is<engine::WorkerJoined> auto& event) {
  fields("worker", event.worker);
  fields("uid", event.uid);
  fields("name", event.name);
  fields("incarnation", event.incarnation);
  fields("slots", event.slots);
  fields("slot_kind", event.slot_kind);
  fields.maybe("devices", event.devices);
  fields.maybe("pool", event.pool);
  fields.maybe("labels", event.labels);
  fields.maybe("address", event.address);
}

template <>
inline constexpr const char* tag_of<engine::WorkerLost> = "worker_lost";
void spell(auto& fields, Is<engine::WorkerLost> auto& event) {
  fields("worker", event.worker);
  fields.maybe("why", event.why);
}

template <>
inline constexpr const char* tag_of<engine::WorkerQuarantined> = "worker_quarantined";
void spell(auto& fields, Is<engine::WorkerQuarantined> auto& event) {
  fields("worker", event.worker);
  fields("why", event.why);
}

template <>
inline constexpr const char* tag_of<engine::WorkerReleased> = "worker_released";
void spell(auto& fields, Is<engine::WorkerReleased> auto& event) {
  fields("worker", event.worker);
}

template <>
inline constexpr const char* tag_of<engine::AttemptDisowned> = "attempt_disowned";
void spell(auto& fields, Is<engine::AttemptDisowned> auto& event) {
  fields("worker", event.worker);
  spell(fields, event.key);
}

template <>
inline constexpr const char* tag_of<engine::SlotsQuarantined> = "slots_quarantined";
void spell(auto& fields, Is<engine::SlotsQuarantined> auto& event) {
  fields("worker", event.worker);
  spell(fields, event.key);
  fields("slots", event.slots);
}

template <>
inline constexpr const char* tag_of<engine::SlotsReleased> = "slots_released";
void spell(auto& fields, Is<engine::SlotsReleased> auto& event) {
  fields("worker", event.worker);
  spell(fields, event.key);
  fields.maybe("gone", event.gone);
}

template <>
inline constexpr const char* tag_of<engine::SlotWithdrawn> = "slot_withdrawn";
void spell(auto& fields, Is<engine::SlotWithdrawn> auto& event) {
  fields("worker", event.worker);
  fields("slot", event.slot);
  fields.maybe("why", event.why);
}

template <>
inline constexpr const char* tag_of<engine::SlotRestored> = "slot_restored";
void spell(auto& fields, Is<engine::SlotRestored> auto& event) {
  fields("worker", event.worker);
  fields("slot", event.slot);
  fields.maybe("healthy", event.healthy);
}

}  // namespace hpsearch::proto
