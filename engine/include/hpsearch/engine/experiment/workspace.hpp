#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/experiment/slot_time.hpp"

namespace hpsearch::engine {

struct ExperimentConfig;

/// The workspace of experiments whose file names none. It always exists.
inline constexpr std::string_view default_workspace = "default";

/// Limits of a workspace, exact. Nothing = no limit.
struct Quota {
  std::optional<std::uint64_t> max_slots{};                  ///< In use at once.
  std::optional<std::uint64_t> max_slots_per_user{};         ///< The same, by experiments of one owner.
  std::optional<std::uint64_t> max_active_experiments{};     ///< Those that have not ended.
  std::optional<std::uint64_t> max_trials_per_experiment{};  ///< That its search plans, repeats included.
  std::optional<std::uint64_t> max_context_bytes{};   ///< Size of its experiments' contexts, each once.
  std::optional<std::uint64_t> slot_hours_per_30d{};  ///< Slots × hours under lease in recent_slot_time().

  friend bool operator==(const Quota&, const Quota&) = default;
};

/// The record of one workspace. Read by shells, changed only by apply().
struct WorkspaceRecord {
  std::string name;
  std::optional<Instant> created_at{};  ///< Nothing: an experiment named it, or it is the default one.
  std::string creator{};                ///< Who created it; "" = not recorded.
  Quota quota{};
  std::uint64_t experiments = 0;                                 ///< In it; those that were deleted are not.
  std::uint64_t active = 0;                                      ///< Those of them that have not ended.
  std::uint64_t slots = 0;                                       ///< That its attempts hold.
  std::map<std::string, std::uint64_t, std::less<>> slots_of{};  ///< The same by owner; no zeros.
  SlotTime slot_time{};  ///< The slot time of its experiments, deleted ones included.
  /// A packed context, and how many experiments and changes of programs name it.
  struct StoredContext {
    std::uint64_t bytes = 0;
    std::uint64_t uses = 0;
  };
  std::map<std::string, StoredContext, std::less<>> contexts{};  ///< By digest; those in use.
  std::uint64_t context_bytes = 0;                               ///< Their sum.

  /// The scheduler's own mark: experiments that could use a free slot if the quota allowed it.
  std::set<ExperimentId> held_back{};
};

/// By name.
using Workspaces = std::map<std::string, WorkspaceRecord, std::less<>>;

/// The name of the workspace that an experiment with this config belongs to.
[[nodiscard]] std::string_view workspace_of(const ExperimentConfig& config) noexcept;

/// Whether a new workspace may have this name: [a-z0-9][a-z0-9-]{0,62}.
[[nodiscard]] bool is_workspace_name(std::string_view name) noexcept;

/// A limit of a quota. Routes, the command line, messages and documentation take names and texts from here.
struct QuotaLimit {
  std::string_view name;    ///< "max_slots"
  std::string_view option;  ///< The option of `hpsearch workspace quota`: "--slots".
  std::string_view about;   ///< What is limited, as a phrase.
  std::uint64_t largest;    ///< That the limit may be.
  std::optional<std::uint64_t> Quota::*value;
  /// What the workspace uses of it at this instant; null: each user or experiment has a use of its own.
  Value (*use)(const WorkspaceRecord& workspace, Instant now);
};

[[nodiscard]] Value use_of_slots(const WorkspaceRecord& workspace, Instant now);
[[nodiscard]] Value use_of_active_experiments(const WorkspaceRecord& workspace, Instant now);
[[nodiscard]] Value use_of_context_bytes(const WorkspaceRecord& workspace, Instant now);
[[nodiscard]] Value use_of_slot_hours(const WorkspaceRecord& workspace, Instant now);
[[nodiscard]] Value no_common_use(const WorkspaceRecord& workspace, Instant now);

inline constexpr std::array quota_limits{
    QuotaLimit{"max_slots", "--slots", "slots in use at once", 1'000'000'000, &Quota::max_slots,
               &use_of_slots},
    QuotaLimit{"max_slots_per_user", "--slots-per-user",
               "slots in use at once by the experiments of one user", 1'000'000'000,
               &Quota::max_slots_per_user, &no_common_use},
    QuotaLimit{"max_active_experiments", "--experiments", "experiments that have not ended", 1'000'000'000,
               &Quota::max_active_experiments, &use_of_active_experiments},
    QuotaLimit{"max_trials_per_experiment", "--trials",
               "trials that the search of one experiment plans, repeats included", 1'000'000'000,
               &Quota::max_trials_per_experiment, &no_common_use},
    QuotaLimit{"max_context_bytes", "--context-bytes", "bytes of stored contexts, each content once",
               1'000'000'000'000'000, &Quota::max_context_bytes, &use_of_context_bytes},
    QuotaLimit{"slot_hours_per_30d", "--slot-hours", "slots × hours in the last 30 days", 1'000'000'000,
               &Quota::slot_hours_per_30d, &use_of_slot_hours}};

/// Slots × time of the workspace in the last 30 days: from the start (UTC) of the hour that was 30 days ago.
/// O(hours).
[[nodiscard]] Duration recent_slot_time(const WorkspaceRecord& workspace, Instant now) noexcept;

/// The limit of slot hours is reached.
struct SlotHoursReached {
  Duration used;                 ///< In the last 30 days.
  std::uint64_t most = 0;        ///< Hours.
  std::optional<Instant> until;  ///< The first instant below the limit if no slots are held; nothing: none.
};

/// Nothing: an experiment whose trials need `slots` may get slots, as far as slot hours are concerned. Trials
/// without slots always may. O(hours).
[[nodiscard]] std::optional<SlotHoursReached> slot_hours_reached(const WorkspaceRecord& workspace,
                                                                 std::uint64_t slots, Instant now) noexcept;

/// A limit of slots that one more trial would exceed.
struct SlotQuotaReached {
  bool per_user = false;   ///< max_slots_per_user, else max_slots.
  std::uint64_t used = 0;  ///< Slots.
  std::uint64_t most = 0;  ///< Slots.
};

/// Nothing: `slots` more, for an experiment of `owner`, are within the quota. Trials without slots always
/// are.
[[nodiscard]] std::optional<SlotQuotaReached> slot_quota_reached(const WorkspaceRecord& workspace,
                                                                 std::string_view owner,
                                                                 std::uint64_t slots) noexcept;

}  // namespace hpsearch::engine
