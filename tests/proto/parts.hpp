#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>

#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/engine/experiment/orders.hpp"
#include "hpsearch/proto/wire.hpp"

// The members of each struct that goes over the wire or into the store, as a tuple of references. Structured
// bindings must name every member, so a struct that gains one does not compile here until it is added:
// nothing can be forgotten in proto's spelling without a test failing.

namespace hpsearch::test {

template <class T, class Wanted>
concept Is = std::same_as<std::remove_const_t<T>, Wanted>;

auto parts(Is<engine::AttemptKey> auto& x) {
  auto& [experiment, trial, attempt, lease] = x;
  return std::tie(experiment, trial, attempt, lease);
}
auto parts(Is<engine::MetricsReport> auto& x) {
  auto& [step, metrics] = x;
  return std::tie(step, metrics);
}
auto parts(Is<engine::CheckpointReport> auto& x) {
  auto& [step, path, files, bytes] = x;
  return std::tie(step, path, files, bytes);
}
auto parts(Is<engine::InvalidHparamsReport> auto& x) {
  auto& [why] = x;
  return std::tie(why);
}
auto parts(Is<engine::ExitReport> auto& x) {
  auto& [cause, code, message, log_tail, unkillable] = x;
  return std::tie(cause, code, message, log_tail, unkillable);
}
auto parts(Is<engine::NoteReport> auto& x) {
  auto& [about, text] = x;
  return std::tie(about, text);
}
auto parts(Is<engine::Decision> auto& x) {
  auto& [id, directive, length] = x;
  return std::tie(id, directive, length);
}
auto parts(Is<jobs::Entrypoint> auto& x) {
  auto& [command] = x;
  return std::tie(command);
}
auto parts(Is<jobs::Channel> auto& x) {
  auto& [name, path, passed_as, pre_download] = x;
  return std::tie(name, path, passed_as, pre_download);
}
auto parts(Is<jobs::BindMount> auto& x) {
  auto& [host_path, container_path, read_only] = x;
  return std::tie(host_path, container_path, read_only);
}
auto parts(Is<jobs::NamedBoolStyle> auto& x) {
  auto& [name, style] = x;
  return std::tie(name, style);
}
auto parts(Is<jobs::JobContract> auto& x) {
  auto& [inputs, outputs, bool_styles, pai_hps_strings, ml_layout, in_place, image, gpu_image, pull_image,
         mounts] = x;
  return std::tie(inputs, outputs, bool_styles, pai_hps_strings, ml_layout, in_place, image, gpu_image,
                  pull_image, mounts);
}
auto parts(Is<jobs::LaunchRoles> auto& x) {
  auto& [ps, evaluator] = x;
  return std::tie(ps, evaluator);
}
auto parts(Is<jobs::LaunchConfig> auto& x) {
  auto& [kind, rank, roles] = x;
  return std::tie(kind, rank, roles);
}
auto parts(Is<engine::Rendezvous> auto& x) {
  auto& [rank, addresses, port] = x;
  return std::tie(rank, addresses, port);
}
auto parts(Is<jobs::LaunchSpec> auto& x) {
  auto& [key, trial_id, name, slots, entrypoint, hparams, length, unit, seed, metric, context, digest, root,
         storage, checkpoint, step, gone, warm, source, environment, patterns, data, timeout, despite,
         contract, launch, rendezvous] = x;
  return std::tie(key, trial_id, name, slots, entrypoint, hparams, length, unit, seed, metric, context,
                  digest, root, storage, checkpoint, step, gone, warm, source, environment, patterns, data,
                  timeout, despite, contract, launch, rendezvous);
}
auto parts(Is<engine::HeldAttempt> auto& x) {
  auto& [key, exited, last_seq, last_decision, first_seq, slots, length, unkillable, waits] = x;
  return std::tie(key, exited, last_seq, last_decision, first_seq, slots, length, unkillable, waits);
}
auto parts(Is<engine::SlotDevice> auto& x) {
  auto& [uuid, name, index, memory] = x;
  return std::tie(uuid, name, index, memory);
}
auto parts(Is<engine::SlotTrouble> auto& x) {
  auto& [slot, why] = x;
  return std::tie(slot, why);
}
auto parts(Is<engine::LeakedProcesses> auto& x) {
  auto& [key, slots] = x;
  return std::tie(key, slots);
}
auto parts(Is<engine::WelcomeWorker::Attempt> auto& x) {
  auto& [key, fate, upto, lease] = x;
  return std::tie(key, fate, upto, lease);
}
auto parts(Is<engine::Reason> auto& x) {
  auto& [why, bracket, rung, rank, size, keep, cutoff, detail] = x;
  return std::tie(why, bracket, rung, rank, size, keep, cutoff, detail);
}

// --- messages ---

auto parts(Is<proto::Envelope> auto& x) {
  auto& [cluster, daemon_epoch, session_epoch, msg_no] = x;
  return std::tie(cluster, daemon_epoch, session_epoch, msg_no);
}
auto parts(Is<proto::Hello> auto& x) {
  auto& [from, to, uid, name, incarnation, boot_id, pid, slots, slot_kind, held, kills_by, devices, pool,
         labels, troubles, address, nonce] = x;
  return std::tie(from, to, uid, name, incarnation, boot_id, pid, slots, slot_kind, held, kills_by, devices,
                  pool, labels, troubles, address, nonce);
}
auto parts(Is<proto::Progress> auto& x) {
  auto& [key, step, silent] = x;
  return std::tie(key, step, silent);
}
auto parts(Is<proto::Beat> auto& x) {
  auto& [progress, leaked_processes, draining, troubles] = x;
  return std::tie(progress, leaked_processes, draining, troubles);
}
auto parts(Is<proto::Started> auto& x) {
  auto& [key] = x;
  return std::tie(key);
}
auto parts(Is<proto::Reports> auto& x) {
  auto& [key, first_seq, reports] = x;
  return std::tie(key, first_seq, reports);
}
auto parts(Is<proto::DecisionAck> auto& x) {
  auto& [key, decision] = x;
  return std::tie(key, decision);
}
auto parts(Is<proto::LogPart> auto& x) {
  auto& [request, offset, size, text, problem] = x;
  return std::tie(request, offset, size, text, problem);
}
auto parts(Is<proto::Goodbye> auto& x) {
  auto& [why] = x;
  return std::tie(why);
}
auto parts(Is<proto::Welcome> auto& x) {
  auto& [worker, beat, attempts, http, hello, credit] = x;
  return std::tie(worker, beat, attempts, http, hello, credit);
}
auto parts(Is<proto::Lease> auto& x) {
  auto& [spec] = x;
  return std::tie(spec);
}
auto parts(Is<proto::Ack> auto& x) {
  auto& [key, upto, credit] = x;
  return std::tie(key, upto, credit);
}
auto parts(Is<proto::Nack> auto& x) {
  auto& [key, expect] = x;
  return std::tie(key, expect);
}
auto parts(Is<proto::Decide> auto& x) {
  auto& [key, decision] = x;
  return std::tie(key, decision);
}
auto parts(Is<proto::Fenced> auto& x) {
  auto& [key] = x;
  return std::tie(key);
}
auto parts(Is<proto::Hold> auto& x) {
  auto& [key] = x;
  return std::tie(key);
}
auto parts(Is<proto::Resync> auto& /*x*/) {
  return std::tuple<>();
}
auto parts(Is<proto::ReadLog> auto& x) {
  auto& [request, key, stream, offset, limit, from_end, process] = x;
  return std::tie(request, key, stream, offset, limit, from_end, process);
}
auto parts(Is<proto::RetryAfter> auto& x) {
  auto& [after_ms] = x;
  return std::tie(after_ms);
}
auto parts(Is<proto::Refused> auto& x) {
  auto& [why, incarnation] = x;
  return std::tie(why, incarnation);
}

// --- events ---

auto parts(Is<engine::SourceCheckpoint> auto& x) {
  auto& [experiment, trial, step, path] = x;
  return std::tie(experiment, trial, step, path);
}
auto parts(Is<engine::ExperimentCreated> auto& x) {
  auto& [experiment, config, context, key, digest, bytes, source, parsed] = x;
  static_cast<void>(parsed);  // Not part of the event.
  return std::tie(experiment, config, context, key, digest, bytes, source);
}
auto parts(Is<engine::ExperimentPaused> auto& x) {
  auto& [experiment] = x;
  return std::tie(experiment);
}
auto parts(Is<engine::ExperimentResumed> auto& x) {
  auto& [experiment] = x;
  return std::tie(experiment);
}
auto parts(Is<engine::LimitsChanged> auto& x) {
  auto& [experiment, config, points_given, parsed] = x;
  static_cast<void>(parsed);  // Not part of the event.
  return std::tie(experiment, config, points_given);
}
auto parts(Is<engine::ExperimentStopping> auto& x) {
  auto& [experiment, target, at_once, reason] = x;
  return std::tie(experiment, target, at_once, reason);
}
auto parts(Is<engine::ExperimentEnded> auto& x) {
  auto& [experiment, state, reason] = x;
  return std::tie(experiment, state, reason);
}
auto parts(Is<engine::TrialCreated> auto& x) {
  auto& [experiment, trial, id, hparams, length, reason] = x;
  return std::tie(experiment, trial, id, hparams, length, reason);
}
auto parts(Is<engine::TrialPromoted> auto& x) {
  auto& [experiment, trial, length, in_place, reason] = x;
  return std::tie(experiment, trial, length, in_place, reason);
}
auto parts(Is<engine::LengthReached> auto& x) {
  auto& [experiment, trial, length, step, metric] = x;
  return std::tie(experiment, trial, length, step, metric);
}
auto parts(Is<engine::TrialPaused> auto& x) {
  auto& [experiment, trial, reason] = x;
  return std::tie(experiment, trial, reason);
}
auto parts(Is<engine::TrialQueued> auto& x) {
  auto& [experiment, trial] = x;
  return std::tie(experiment, trial);
}
auto parts(Is<engine::TrialExitedEarly> auto& x) {
  auto& [experiment, trial, exit, detail] = x;
  return std::tie(experiment, trial, exit, detail);
}
auto parts(Is<engine::TrialEnded> auto& x) {
  auto& [experiment, trial, state, reason] = x;
  return std::tie(experiment, trial, state, reason);
}
auto parts(Is<engine::Place> auto& x) {
  auto& [worker, slots] = x;
  return std::tie(worker, slots);
}
auto parts(Is<engine::LeaseGranted> auto& x) {
  auto& [experiment, trial, attempt, worker, slots, length, others, port] = x;
  return std::tie(experiment, trial, attempt, worker, slots, length, others, port);
}
auto parts(Is<engine::AttemptStarted> auto& x) {
  auto& [key, member] = x;
  return std::tie(key, member);
}
auto parts(Is<engine::MemberExited> auto& x) {
  auto& [key, worker, exit] = x;
  return std::tie(key, worker, exit);
}
auto parts(Is<engine::MemberLost> auto& x) {
  auto& [key, worker, why] = x;
  return std::tie(key, worker, why);
}
auto parts(Is<engine::StartDelayed> auto& x) {
  auto& [experiment, trial, times, wait, worker, worker_times, worker_wait, why] = x;
  return std::tie(experiment, trial, times, wait, worker, worker_times, worker_wait, why);
}
auto parts(Is<engine::StoreRestored> auto& x) {
  auto& [numbers_from] = x;
  return std::tie(numbers_from);
}
auto parts(Is<engine::GangEnded> auto& x) {
  auto& [key] = x;
  return std::tie(key);
}
auto parts(Is<engine::ReportTaken> auto& x) {
  auto& [key, seq, report] = x;
  return std::tie(key, seq, report);
}
auto parts(Is<engine::AttemptLost> auto& x) {
  auto& [key, why, may_return] = x;
  return std::tie(key, why, may_return);
}
auto parts(Is<engine::AttemptAdopted> auto& x) {
  auto& [key, worker, slots, length, upto, trains_on, has_unlogged_decision] = x;
  return std::tie(key, worker, slots, length, upto, trains_on, has_unlogged_decision);
}
auto parts(Is<engine::WorkerQuarantined> auto& x) {
  auto& [worker, why] = x;
  return std::tie(worker, why);
}
auto parts(Is<engine::CheckpointsCollected> auto& x) {
  auto& [experiment, trial, paths] = x;
  return std::tie(experiment, trial, paths);
}
auto parts(Is<engine::CheckpointsDeleted> auto& x) {
  auto& [experiment, paths] = x;
  return std::tie(experiment, paths);
}
auto parts(Is<engine::WorkerReleased> auto& x) {
  auto& [worker] = x;
  return std::tie(worker);
}
auto parts(Is<engine::AttemptDisowned> auto& x) {
  auto& [worker, key] = x;
  return std::tie(worker, key);
}
auto parts(Is<engine::SlotsQuarantined> auto& x) {
  auto& [worker, key, slots] = x;
  return std::tie(worker, key, slots);
}
auto parts(Is<engine::SlotsReleased> auto& x) {
  auto& [worker, key, gone] = x;
  return std::tie(worker, key, gone);
}
auto parts(Is<engine::SlotWithdrawn> auto& x) {
  auto& [worker, slot, why] = x;
  return std::tie(worker, slot, why);
}
auto parts(Is<engine::SlotRestored> auto& x) {
  auto& [worker, slot, healthy] = x;
  return std::tie(worker, slot, healthy);
}
auto parts(Is<engine::WorkerJoined> auto& x) {
  auto& [worker, uid, name, incarnation, slots, slot_kind, devices, pool, labels, address] = x;
  return std::tie(worker, uid, name, incarnation, slots, slot_kind, devices, pool, labels, address);
}
auto parts(Is<engine::WorkerLost> auto& x) {
  auto& [worker, why] = x;
  return std::tie(worker, why);
}

template <class T>
concept HasParts = requires(T& x) {
  parts(x);
};

}  // namespace hpsearch::test
