#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/cluster/slot_ledger.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/slot_device.hpp"

namespace hpsearch::engine {

/// What of an attempt survives SIGKILL on its worker.
struct SlotQuarantine {
  std::vector<SlotIndex> slots;
  bool released = false;  ///< By an operator: they are leased although it is not gone.
};

/// Why a slot is out of use, although nobody holds it.
struct WithdrawnSlot {
  std::string why;
  bool released = false;  ///< By an operator: it is leased although its worker still says so.
};

/// A time in which a worker got no new leases.
struct Quarantine {
  Instant from;
  std::optional<Instant> to;  ///< Nothing while it lasts.
};

/// A worker that says it has more is refused.
inline constexpr std::uint64_t most_slots_of_a_worker = 10'000'000;

/// A worker as the log knows it. Whether it was heard of lately is Liveness's, and not in the log.
struct WorkerRecord {
  WorkerId id;
  std::string uid;
  std::string name;
  std::uint64_t incarnation = 0;
  std::string slot_kind;
  std::string address{};  ///< By which other workers reach it; "" = not said.
  bool present = true;    ///< False once lost; its leases are over then.
  SlotLedger slots;
  std::set<AttemptKey> attempts;                 ///< Live ones, those without slots included.
  std::uint64_t unslotted = 0;                   ///< Of these, those without slots.
  std::optional<std::uint64_t> max_unslotted{};  ///< So many of those at most; nothing: no bound.
  std::string quarantined{};                     ///< Why it gets no new leases; "" = it may get some.
  std::vector<Quarantine> quarantines{};         ///< All, in their order.
  bool draining = false;                         ///< An operator wants it idle: it gets no new leases.
  /// Trials that failed here soon after their start and without a report, one after another.
  std::vector<std::pair<ExperimentId, TrialNumber>> quick_failures{};
  std::uint64_t start_failures = 0;  ///< Attempts in a row that were over here as soon as they were leased …
  Instant last_start_failure{};      ///< … when the last of them was.
  Instant rests_until{};             ///< When it gets leases again, therefore.
  /// By attempts that are over, as the worker knows them. Those that are not released hold their slots.
  std::map<AttemptKey, SlotQuarantine> leaked_processes{};
  // Leased by the lost part of a restored log, and by an operator's word …
  std::set<AttemptKey> adopted{};     ///< … attempts of their trials like others, live or not;
  std::set<AttemptKey> disowned{};    ///< … to end wherever they turn up.
  std::vector<SlotDevice> devices{};  ///< By slot; none where slots are shares of the processors.
  std::string pool{};                 ///< "" = the default one.
  std::map<std::string, std::string> labels{};
  std::map<SlotIndex, WithdrawnSlot> withdrawn{};  ///< Slots in trouble. Those not released get no leases.
};

/// It may get leases, if its slots are free and it was heard of: it is there, and neither in quarantine nor
/// draining.
[[nodiscard]] inline bool is_in_service(const WorkerRecord& worker) noexcept {
  return worker.present && worker.quarantined.empty() && !worker.draining;
}

/// What stands for all clients that run trials themselves: a worker without slots that no process is. Its
/// attempts are leased when a client asks for them (AskTrials), and never otherwise.
inline constexpr std::string_view external_worker_uid = "external";
[[nodiscard]] inline bool is_external(const WorkerRecord& worker) noexcept {
  return worker.uid == external_worker_uid;
}

/// Trials that want these resources may run there: it is in their pool and has every label they name; or
/// clients run them, and it stands for those.
[[nodiscard]] bool serves(const WorkerRecord& worker, const ResourcesConfig& wanted) noexcept;

/// One more trial without slots may run there.
[[nodiscard]] inline bool takes_unslotted(const WorkerRecord& worker) noexcept {
  return !worker.max_unslotted || worker.unslotted < *worker.max_unslotted;
}

/// So many of its slots could be one trial's if nothing else held any: enough are not out of use, and on
/// different devices where that is asked for. O(slots), where slots share devices O(slots × slots wanted).
[[nodiscard]] bool could_hold(const WorkerRecord& worker, std::uint64_t slots);

/// Which slots share a device, for the ledger: a number per slot, equal where the device is; none where every
/// slot is on its own.
[[nodiscard]] std::vector<std::uint32_t> shares_of(const std::vector<SlotDevice>& devices);

}  // namespace hpsearch::engine
