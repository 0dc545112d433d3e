#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"

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

  friend bool operator==(const Quota&, const Quota&) = default;
};

/// What the engine keeps of one workspace. Read by shells, changed only by apply().
struct WorkspaceRecord {
  std::string name;
  std::optional<Instant> created_at{};  ///< Nothing: an experiment named it, or it is the default one.
  std::string creator{};                ///< Who created it; "" = not recorded.
  Quota quota{};
  std::uint64_t experiments = 0;                                 ///< In it; those that were deleted are not.
  std::uint64_t active = 0;                                      ///< Those of them that have not ended.
  std::uint64_t slots = 0;                                       ///< That its attempts hold.
  std::map<std::string, std::uint64_t, std::less<>> slots_of{};  ///< The same by owner; no zeros.

  /// The scheduler's own mark: experiments that could use a free slot if the quota allowed it.
  std::set<ExperimentId> held_back{};
};

/// By name.
using Workspaces = std::map<std::string, WorkspaceRecord, std::less<>>;

/// The name of the workspace that an experiment with this config belongs to.
[[nodiscard]] std::string_view workspace_of(const ExperimentConfig& config) noexcept;

/// Whether a new workspace may have this name: [a-z0-9][a-z0-9-]{0,62}.
[[nodiscard]] bool is_workspace_name(std::string_view name) noexcept;

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
