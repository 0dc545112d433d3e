#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/alloc/worker_end.hpp"
#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/slot_device.hpp"
#include "hpsearch/engine/cluster/slot_ledger.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"

namespace hpsearch::engine {

/// Processes of an attempt that survive SIGKILL on its worker.
struct SlotQuarantine {
  std::vector<SlotIndex> slots;
  bool released = false;  ///< By an operator: they are leased although it has not ended.
};

/// Why a slot is out of use although no lease holds it.
struct WithdrawnSlot {
  std::string why;
  bool released = false;  ///< By an operator: it is leased although its worker still says so.
};

/// A time in which a worker got no new leases.
struct Quarantine {
  Instant from;
  std::optional<Instant> to;  ///< Nothing while it lasts.
};

/// A trial failed on a worker soon after its start and without a report. It says something about the worker
/// once the same trial works on another one; if it fails there too, the mark is taken back.
struct WorkerMark {
  ExperimentId experiment;
  TrialNumber trial;
  Lsn at;  ///< The number (Numbering) of the event: attempts leased later may speak for the worker.
  bool worked_elsewhere = false;
};

/// An attempt was over as soon as the worker had its lease, by the worker's doing.
struct FailedStart {
  ExperimentId experiment;
  TrialNumber trial;
  bool evicted = false;  ///< The worker ended it without an order.
};

/// What may end a quarantine that the engine decided: from WorkerRecord::rests_until on the worker gets one
/// trial. Its first report ends the quarantine, its failure makes it longer.
struct Probation {
  std::uint64_t times = 1;            ///< How often in a row the quarantine began or was made longer.
  std::optional<AttemptKey> attempt;  ///< The one trial, while it runs.
};

/// A worker that is lost and that no attempt waits for: what history still has of it.
struct ForgottenWorker {
  std::string name;
  std::vector<Quarantine> quarantines;
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
  std::uint64_t unslotted = 0;                   ///< How many of these have no slots.
  std::optional<std::uint64_t> max_unslotted{};  ///< So many of those at most; nothing: no bound.
  std::string quarantined{};                     ///< Why it gets no new leases; "" = it may get some.
  std::vector<Quarantine> quarantines{};         ///< All, in their order.
  bool draining = false;                         ///< An operator wants it idle: it gets no new leases.
  std::optional<Probation> probation{};          ///< Set for a quarantine that no operator asked for.
  std::vector<WorkerMark> marks{};               ///< Since an attempt began well here.
  std::vector<FailedStart> failed_starts{};      ///< In a row …
  std::uint64_t start_failures = 0;              ///< … how many times they speak against the worker …
  Instant last_start_failure{};                  ///< … and when the last of them was.
  Instant rests_until{};  ///< When it gets leases again, therefore, or one on probation.
  /// By attempts that are over, as the worker knows them. Those that are not released hold their slots.
  std::map<AttemptKey, SlotQuarantine> leaked_processes{};
  // Leased by the lost part of a restored log, and by an operator's word …
  std::set<AttemptKey> adopted{};     ///< … attempts of their trials like others, live or not;
  std::set<AttemptKey> disowned{};    ///< … to end wherever they turn up.
  std::vector<SlotDevice> devices{};  ///< By slot; none where slots are shares of the processors.
  std::string pool{};                 ///< "" = the default one.
  std::map<std::string, std::string> labels{};
  Instant lost_at{};                  ///< While it is not present.
  std::set<AttemptKey> may_return{};  ///< Lost while it was silent; nothing has their places yet.
  std::map<SlotIndex, WithdrawnSlot> withdrawn{};  ///< Slots in trouble. Those not released get no leases.
  /// Slots that other searches of its machine have now, each with who has it (Engine::set_taken). They get no
  /// leases. Not in the log.
  std::map<SlotIndex, std::string> taken{};
  std::string allocation{};        ///< The allocation that it runs in, as "gpu/17"; "" = none.
  std::optional<WorkerEnd> end{};  ///< Nothing: no end is known.
};

/// It may get leases, if its slots are free and it was heard of: it is there, and neither in quarantine nor
/// draining.
[[nodiscard]] inline bool is_in_service(const WorkerRecord& worker) noexcept {
  return worker.present && worker.quarantined.empty() && !worker.draining;
}

/// In quarantine, it may get one trial that shows whether it works again. Its rest has to be over.
[[nodiscard]] inline bool takes_one_on_probation(const WorkerRecord& worker) noexcept {
  return worker.present && !worker.draining && !worker.quarantined.empty() && worker.probation &&
         !worker.probation->attempt;
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
