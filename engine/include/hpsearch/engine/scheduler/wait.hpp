#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::engine {

/// The workers that an experiment may use: those of one resource pool that have all these labels.
struct WantedWorkers {
  std::string pool;
  std::map<std::string, std::string> labels;
};

/// How many trials of an experiment may run at once.
struct ConcurrencyLimit {
  std::uint64_t trials = 0;
  /// max_concurrent_trials is 0, so the limit follows from this number of slots. Nothing: the limit is its
  /// value.
  std::optional<std::uint64_t> slots;
};

// --- why a trial that is ready gets no slot; one struct per cause ---

struct WaitForResume {};  ///< The experiment is paused.

struct WaitForConcurrency {  ///< max_concurrent_trials is reached.
  std::uint64_t running = 0;
  std::uint64_t delayed =
      0;  ///< Trials that wait for their next attempt, if they count against the limit here.
  ConcurrencyLimit limit;
};

struct WaitForFirstReport {  ///< Its first trials failed in the same way, or have only just started: few
                             ///< run until one reports.
  std::uint64_t failed = 0;  ///< Trials; 0: they have only just started.
  std::uint64_t running = 0;
  std::string why{};       ///< How they failed.
  Duration remaining{};    ///< No others start for so long, unless one gets on; 0: until one reports.
  std::uint64_t most = 0;  ///< Trials that may have failed so or be running.
};

struct WaitForMaxSlots {  ///< One more trial would exceed max_slots.
  std::uint64_t used = 0;
  std::uint64_t slots_per_trial = 0;
  std::uint64_t max_slots = 0;
};

struct WaitForQuota {  ///< One more trial would exceed a limit of the workspace.
  std::string workspace;
  std::string user;        ///< The owner of the experiment; "" = not recorded.
  std::uint64_t used = 0;  ///< Slots.
  std::uint64_t slots_per_trial = 0;
  std::uint64_t most = 0;  ///< Slots.
  bool per_user = false;   ///< max_slots_per_user, else max_slots.
};

struct WaitForSlotHours {  ///< The workspace has used up its slot hours.
  std::string workspace;
  Duration used;           ///< Slots × time in the last 30 days.
  std::uint64_t most = 0;  ///< Hours.
  Duration remaining;      ///< Until the use falls below the limit if nothing runs; 0: it never does.
};

struct WaitForRestingWorkers {  ///< No worker gets leases for a while: attempts failed to start on each of
                                ///< them.
  Duration remaining;           ///< Until the first of them gets leases again.
};

/// In the structs below, `wanted` is set if the experiment does not accept every connected worker.
struct WaitForWorker {  ///< None is connected.
  std::optional<WantedWorkers> wanted;
};

struct WaitForRelease {  ///< All of them are in quarantine or draining.
  std::optional<WantedWorkers> wanted;
  std::uint64_t quarantined = 0;
  std::uint64_t draining = 0;
};

/// No single worker could hold the trial, even with all its healthy slots free.
struct TooLargeForOneWorker {
  std::uint64_t slots_per_trial = 0;
  std::uint64_t largest = 0;  ///< Slots of the largest worker, those out of use included.
  std::optional<WantedWorkers> wanted;
};

struct WaitForLargerWorker {  ///< And the trial may not be split (resources.spans_workers).
  TooLargeForOneWorker trial;
};

struct WaitForReachableWorkers {  ///< And no workers that can reach each other could hold equal parts of it.
  TooLargeForOneWorker trial;
  std::uint64_t least_workers = 0;
};

struct WaitForGang {  ///< And too few workers have their part of the slots free at the same time.
  TooLargeForOneWorker trial;
  std::uint64_t workers = 0;
  std::uint64_t slots_each = 0;
  std::uint64_t ready = 0;  ///< Workers with this number of free slots.
};

struct TakenSlots {
  std::uint64_t slots = 0;
  std::string why;  ///< "in use by search lr (process 12)"
};

struct WaitForFreeSlots {  ///< Every worker has too few free ones.
  std::uint64_t free = 0;
  std::uint64_t total = 0;
  std::uint64_t out_of_use = 0;
  std::uint64_t most_on_one_worker = 0;  ///< Free ones.
  std::uint64_t slots_per_trial = 0;
  std::optional<WantedWorkers> wanted;
  std::vector<TakenSlots> taken{};  ///< By other searches of the machine, as their workers say.
};

struct WaitForDevices {  ///< Enough slots of one worker are free, but too few of them on different devices.
  std::uint64_t free = 0;
  std::uint64_t total = 0;
  std::uint64_t slots_per_trial = 0;
  std::optional<WantedWorkers> wanted;
};

struct WaitForRoomWithoutSlots {  ///< A trial without slots, and every worker runs as many as it takes.
  std::uint64_t running = 0;      ///< Trials without slots, of every experiment, on these workers.
  std::uint64_t most = 0;         ///< Sum of their max_unslotted.
  std::optional<WantedWorkers> wanted;
};

struct WaitForTime {  ///< Those with free slots end before the trial could have trained anything of use.
  Duration needed;
  std::uint64_t attempts = 0;  ///< It is the 90th percentile of this number of attempts; 0: a guess, or
                               ///< resources.time_request.
  std::string worker;          ///< The name of the one that lasts longest, …
  Duration left;               ///< … and the time until it takes no trials any more.
};

struct WaitForTurn {  ///< There are free slots; other experiments get them, or their workers get no leases
                      ///< now.
  std::uint64_t priority = 0;
  double weight = 1;
};

struct WaitForClient {};  ///< Clients run its trials (`workers: external`), and none asks for more.

struct WaitForRetry {  ///< The trial's last attempts ended without a report; the next one is delayed.
  TrialNumber trial;
  std::uint64_t fruitless = 0;  ///< In a row; the trial fails after most_fruitless_attempts.
  std::string worker;           ///< Name of the worker that ended the last one; "" = none did, or unknown.
  std::string why;              ///< As its event has it; may be "".
  Duration remaining;           ///< Until the next attempt.
};

using Wait = std::variant<WaitForResume, WaitForConcurrency, WaitForFirstReport, WaitForMaxSlots,
                          WaitForRestingWorkers, WaitForWorker, WaitForRelease, WaitForLargerWorker,
                          WaitForReachableWorkers, WaitForGang, WaitForFreeSlots, WaitForDevices,
                          WaitForRoomWithoutSlots, WaitForTurn, WaitForClient, WaitForRetry, WaitForQuota,
                          WaitForSlotHours, WaitForTime>;

}  // namespace hpsearch::engine
