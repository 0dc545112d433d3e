#include "daemon/metrics/worker_metrics.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/engine/alloc/queue.hpp"

namespace hpsearch::daemon {
namespace {

using enum proto::MetricType;

constexpr std::array<std::string_view, 6> worker_states{"connected", "suspect", "quarantined",
                                                        "draining",  "resting", "lost"};
constexpr std::array<std::string_view, 4> slot_states{"busy", "idle", "quarantined", "withdrawn"};

std::size_t state_of(const engine::WorkerRecord& worker, const Runtime& runtime) {
  return !worker.present                      ? 5
         : runtime.suspect(worker.id)         ? 1
         : !worker.quarantined.empty()        ? 2
         : worker.draining                    ? 3
         : runtime.now() < worker.rests_until ? 4
                                              : 0;
}

/// By slot_states. Slots of a worker that would get no trial now are not idle.
std::array<std::uint64_t, slot_states.size()> slots_of(const engine::WorkerRecord& worker, bool is_suspect) {
  std::uint64_t leaked = 0;
  for (const auto& [key, processes] : worker.leaked_processes) {
    leaked += processes.released ? 0 : processes.slots.size();
  }
  const std::uint64_t held = worker.slots.held();
  const std::uint64_t free = worker.slots.free();
  leaked = std::min(leaked, held);
  std::array<std::uint64_t, slot_states.size()> slots{held - leaked, 0, leaked,
                                                      worker.slots.total() - held - free};
  slots.at(!worker.quarantined.empty() ? 2 : worker.draining || is_suspect ? 3 : 1) += free;
  return slots;
}

void add_workers_and_slots(proto::PrometheusText& text, const Runtime* runtime, const PoolNames& pools) {
  using Pool = std::string_view;
  std::map<Pool, std::array<std::uint64_t, worker_states.size()>> workers{{"default", {}}};
  std::map<std::pair<Pool, Pool>, std::array<std::uint64_t, slot_states.size()>> slots;  // By kind and pool.
  if (runtime != nullptr) {
    for (const auto& [id, worker] : runtime->engine().workers()) {
      if (engine::is_external(worker)) {
        continue;
      }
      const Pool pool = pools.shown(worker.pool);
      ++workers[pool].at(state_of(worker, *runtime));
      if (worker.present) {
        const auto mine = slots_of(worker, runtime->suspect(id));
        auto& sum = slots[{worker.slot_kind, pool}];
        for (std::size_t state = 0; state < mine.size(); ++state) {
          sum.at(state) += mine.at(state);
        }
      }
    }
  }
  text.family(
      "workers", gauge,
      "Workers by state: connected, suspect (silent or not connected), quarantined, draining, resting, lost.",
      {"state", "pool"});
  for (const auto& [pool, sums] : workers) {
    for (std::size_t state = 0; state < sums.size(); ++state) {
      text.sample(static_cast<double>(sums.at(state)), {worker_states.at(state), pool});
    }
  }
  text.family(
      "slots", gauge,
      "Slots of workers that are not lost, by state: busy, idle, quarantined (processes survive there, "
      "or the worker is in quarantine), withdrawn (broken, or the worker is draining or suspect).",
      {"state", "kind", "pool"});
  for (const auto& [key, sums] : slots) {
    for (std::size_t state = 0; state < sums.size(); ++state) {
      text.sample(static_cast<double>(sums.at(state)), {slot_states.at(state), key.first, key.second});
    }
  }
}

/// Versions of workers that are not lost, and attempts of theirs that the store doesn't have.
void add_versions_and_holds(proto::PrometheusText& text, const Runtime* runtime,
                            const WorkerSessions* sessions) {
  constexpr std::size_t most_versions = 10;  // Others are summed: workers send any text.
  std::map<std::string, std::uint64_t, std::less<>> versions;
  std::uint64_t on_hold = 0;
  if (runtime != nullptr && sessions != nullptr) {
    for (const auto& [id, worker] : runtime->engine().workers()) {
      if (engine::is_external(worker) || !worker.present) {
        continue;
      }
      on_hold += sessions->on_hold(id).size();
      if (const std::string version = sessions->about(id).version; !version.empty()) {
        ++versions[versions.contains(version) || versions.size() < most_versions ? version : "other"];
      }
    }
  }
  text.family("worker_versions", gauge,
              "Workers that are not lost, by the version of their program; those that have not connected "
              "since the daemon started are left out.",
              {"version"});
  for (const auto& [version, number] : versions) {
    text.sample(static_cast<double>(number), {version});
  }
  text.gauge("attempts_on_hold",
             "Attempts that run on workers and that the store does not have, as after a restore: they wait "
             "for hpsearch adopt or hpsearch disown.",
             static_cast<double>(on_hold));
}

void add_quarantines(proto::PrometheusText& text, const Runtime* runtime) {
  const EventCounts none;
  const EventCounts& events = runtime == nullptr ? none : runtime->event_counts();
  text.family("worker_quarantines_total", counter,
              "Quarantines of workers, by reason: failures (of trials there; each time that one is made "
              "longer counts), operator.",
              {"reason"});
  text.sample(static_cast<double>(events.failure_quarantines), {"failures"});
  text.sample(static_cast<double>(events.operator_quarantines), {"operator"});
  text.counter("slots_quarantined_total", "Slots that were quarantined because processes survived SIGKILL.",
               static_cast<double>(events.slots_quarantined));
  text.counter("slots_withdrawn_total", "Slots that workers withdrew because their device had trouble.",
               static_cast<double>(events.slots_withdrawn));
}

/// Queues and their live allocations, over all queues: their names are without bound.
void add_queues(proto::PrometheusText& text, const Runtime* runtime) {
  using Allocation = engine::AllocationRecord::State;
  using Queue = engine::QueueRecord::State;
  std::map<Queue, std::uint64_t> queues{{Queue::active, 0}, {Queue::paused, 0}, {Queue::removed, 0}};
  std::map<Allocation, std::uint64_t> allocations{
      {Allocation::wanted, 0}, {Allocation::submitted, 0}, {Allocation::running, 0}};
  if (runtime != nullptr) {
    for (const auto& [name, queue] : runtime->engine().queues()) {
      ++queues[queue.state];
      for (const auto& [number, allocation] : queue.allocations) {
        if (engine::is_live(allocation)) {
          ++allocations[allocation.state];
        }
      }
    }
  }
  text.family("queues", gauge, "Queues of allocations by state: active, paused, removed (with allocations).",
              {"state"});
  for (const auto& [state, number] : queues) {
    text.sample(static_cast<double>(number), {engine::name_of(state)});
  }
  text.family(
      "allocations", gauge,
      "Allocations that have not ended, by state: wanted (not known to be submitted), submitted (waits "
      "for its start), running.",
      {"state"});
  for (const auto& [state, number] : allocations) {
    text.sample(static_cast<double>(number), {engine::name_of(state)});
  }
}

}  // namespace

void add_worker_metrics(proto::PrometheusText& text, const Runtime* runtime, const WorkerSessions* sessions,
                        const PoolNames& pools) {
  const WorkerCounts none;
  const WorkerCounts& counts = sessions == nullptr ? none : sessions->counts();
  add_workers_and_slots(text, runtime, pools);
  add_versions_and_holds(text, runtime, sessions);
  add_quarantines(text, runtime);
  add_queues(text, runtime);
  text.family("worker_heartbeat_age_seconds", histogram,
              "How long a worker had been silent when its next message came.");
  text.sample(counts.silence);
  text.family("worker_messages_total", counter,
              "Messages exchanged with workers, by direction (received, sent) and type.",
              {"direction", "type"});
  for (const auto& [direction, by_type] :
       {std::pair{"received", &counts.received}, std::pair{"sent", &counts.sent}}) {
    for (const auto& [type, number] : *by_type) {
      text.sample(static_cast<double>(number), {direction, type});
    }
  }
  text.family("worker_bytes_total", counter, "Bytes of those messages, before encryption.", {"direction"});
  text.sample(static_cast<double>(counts.bytes_received), {"received"});
  text.sample(static_cast<double>(counts.bytes_sent), {"sent"});
  text.counter("worker_resyncs_total", "How often a worker without a session was asked for a HELLO.",
               static_cast<double>(counts.resyncs));
  text.family("worker_refused_total", counter, "How often a worker was refused, by reason.", {"why"});
  for (std::size_t why = 0; why < refusal_names.size(); ++why) {
    text.sample(static_cast<double>(counts.refused.at(why)), {refusal_names.at(why)});
  }
  text.counter("reports_late_total",
               "Reports of attempts whose lease had ended; they were not used. Since the daemon started.",
               sessions == nullptr ? 0 : static_cast<double>(sessions->late_reports()));
  text.counter("reports_refused_total",
               "Reports that were rejected, or for which there was no room; workers send the latter again.",
               static_cast<double>(counts.refused_reports));
}

}  // namespace hpsearch::daemon
