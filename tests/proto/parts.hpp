#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/engine/experiment/orders.hpp"
#include "hpsearch/proto/encoding/spell.hpp"
#include "hpsearch/proto/wire/wire.hpp"

// The members of each struct on the wire or in the store, as a tuple of references. Structured
// bindings must name every member, so a struct with a new member doesn't compile here until it is added. So
// a test fails if proto's spelling lacks a member.

namespace hpsearch::test {

template <class T, class Wanted>
concept Is = std::same_as<std::remove_const_t<T>, Wanted>;

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
auto parts(Is<engine::UnmeasuredReport> auto& x) {
  auto& [step] = x;
  return std::tie(step);
}
auto parts(Is<engine::NoteReport> auto& x) {
  auto& [about, text] = x;
  return std::tie(about, text);
}
auto parts(Is<engine::Decision> auto& x) {
  auto& [id, directive, length, may_finish] = x;
  return std::tie(id, directive, length, may_finish);
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
         mounts, terminal] = x;
  return std::tie(inputs, outputs, bool_styles, pai_hps_strings, ml_layout, in_place, image, gpu_image,
                  pull_image, mounts, terminal);
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
  auto& [key, trial_id, name, user, slots, entrypoint, hparams, length, max_length, unit, seed, metric,
         context, digest, default_storage, root, storage, checkpoint, step, gone, warm, source, environment,
         requirements, mirrors, preload, signal, harness, patterns, data, timeout, finish, despite, hand_over,
         keep_files, larger, contract, launch, rendezvous] = x;
  return std::tie(key, trial_id, name, user, slots, entrypoint, hparams, length, max_length, unit, seed,
                  metric, context, digest, default_storage, root, storage, checkpoint, step, gone, warm,
                  source, environment, requirements, mirrors, preload, signal, harness, patterns, data,
                  timeout, finish, despite, hand_over, keep_files, larger, contract, launch, rendezvous);
}
auto parts(Is<engine::HeldAttempt> auto& x) {
  auto& [key, exited, last_seq, last_decision, first_seq, slots, length, unkillable, waits, held_for] = x;
  return std::tie(key, exited, last_seq, last_decision, first_seq, slots, length, unkillable, waits,
                  held_for);
}
auto parts(Is<engine::SlotDevice> auto& x) {
  auto& [uuid, name, index, memory] = x;
  return std::tie(uuid, name, index, memory);
}
auto parts(Is<engine::SlotTrouble> auto& x) {
  auto& [slot, why] = x;
  return std::tie(slot, why);
}
auto parts(Is<engine::TimeLeft> auto& x) {
  auto& [to_end, to_give_back] = x;
  return std::tie(to_end, to_give_back);
}
auto parts(Is<engine::LeakedProcesses> auto& x) {
  auto& [key, slots] = x;
  return std::tie(key, slots);
}
auto parts(Is<engine::WelcomeWorker::Attempt> auto& x) {
  auto& [key, fate, upto, lease] = x;
  return std::tie(key, fate, upto, lease);
}

// --- messages ---

auto parts(Is<proto::Envelope> auto& x) {
  auto& [cluster, daemon_epoch, session_epoch, msg_no] = x;
  return std::tie(cluster, daemon_epoch, session_epoch, msg_no);
}
auto parts(Is<proto::SharedSlots> auto& x) {
  auto& [number, taken] = x;
  return std::tie(number, taken);
}
auto parts(Is<proto::Hello> auto& x) {
  auto& [from, to, uid, name, incarnation, boot_id, pid, slots, slot_kind, held, kills_by, devices, pool,
         labels, troubles, address, nonce, max_unslotted, host, version, allocation, time_left, shared] = x;
  return std::tie(from, to, uid, name, incarnation, boot_id, pid, slots, slot_kind, held, kills_by, devices,
                  pool, labels, troubles, address, nonce, max_unslotted, host, version, allocation, time_left,
                  shared);
}
auto parts(Is<proto::DeviceUtilization> auto& x) {
  auto& [index, busy, memory] = x;
  return std::tie(index, busy, memory);
}
auto parts(Is<proto::Utilization> auto& x) {
  auto& [at, length, cpu, memory, devices] = x;
  return std::tie(at, length, cpu, memory, devices);
}
auto parts(Is<proto::Progress> auto& x) {
  auto& [key, step, silent, utilization] = x;
  return std::tie(key, step, silent, utilization);
}
auto parts(Is<proto::Beat> auto& x) {
  auto& [progress, leaked_processes, draining, troubles, checkpoint_problem, time_left, shared] = x;
  return std::tie(progress, leaked_processes, draining, troubles, checkpoint_problem, time_left, shared);
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
auto parts(Is<proto::Join> auto& x) {
  auto& [name, public_key] = x;
  return std::tie(name, public_key);
}
auto parts(Is<proto::LogNotKept> auto& x) {
  auto& [key, why] = x;
  return std::tie(key, why);
}
auto parts(Is<proto::Welcome> auto& x) {
  auto& [worker, beat, attempts, http, hello, credit, http_key, checkpoint_root] = x;
  return std::tie(worker, beat, attempts, http, hello, credit, http_key, checkpoint_root);
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
auto parts(Is<proto::Joined> auto& x) {
  auto& [name] = x;
  return std::tie(name);
}
auto parts(Is<proto::Wanted> auto& x) {
  auto& [slots, number] = x;
  return std::tie(slots, number);
}
auto parts(Is<proto::Refused> auto& x) {
  auto& [why, incarnation] = x;
  return std::tie(why, incarnation);
}

// --- structs of the engine with a list of fields: events and their parts ---

/// Converts to any member when an aggregate is initialized.
struct AnyMember {
  template <class Member>
  operator Member() const;  // NOLINT(google-explicit-constructor)
};

/// How many members an aggregate has: the largest number of values that initialise it.
template <class Aggregate, class... Members>
[[nodiscard]] consteval std::size_t member_count() {
  if constexpr (requires { Aggregate{Members{}..., AnyMember{}}; }) {
    return member_count<Aggregate, Members..., AnyMember>();
  } else {
    return sizeof...(Members);
  }
}

/// Without `parsed` of ExperimentCreated and LimitsChanged, which isn't part of the event.
template <class T>
concept ListsAllMembers = proto::ListsFields<T> && !requires(T & x) {
  x.parsed;
};

auto parts(ListsAllMembers auto& x) {
  constexpr std::size_t count = member_count<std::remove_cvref_t<decltype(x)>>();
  static_assert(count >= 1 && count <= 16, "add a branch below");
  if constexpr (count == 1) {
    auto& [a] = x;
    return std::tie(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = x;
    return std::tie(a, b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = x;
    return std::tie(a, b, c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = x;
    return std::tie(a, b, c, d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = x;
    return std::tie(a, b, c, d, e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = x;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = x;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, f, g, h] = x;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (count == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = x;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (count == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = x;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (count == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = x;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (count == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = x;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (count == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = x;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (count == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = x;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (count == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = x;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else if constexpr (count == 16) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = x;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  }
}
auto parts(Is<engine::ExperimentCreated> auto& x) {
  auto& [experiment, config, context, key, digest, bytes, source, owner, user, file, git, parsed] = x;
  static_cast<void>(parsed);  // Not part of the event.
  return std::tie(experiment, config, context, key, digest, bytes, source, owner, user, file, git);
}
auto parts(Is<engine::LimitsChanged> auto& x) {
  auto& [experiment, config, points_given, parsed, actor] = x;
  static_cast<void>(parsed);  // Not part of the event.
  return std::tie(experiment, config, points_given, actor);
}

template <class T>
concept HasParts = requires(T& x) {
  parts(x);
};

}  // namespace hpsearch::test
