#include "daemon/metrics/quota_metrics.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace hpsearch::daemon {
namespace {

using enum proto::MetricType;

constexpr std::size_t most_named_owners = 50;
constexpr std::string_view others = "other";

using OwnerSlots = std::pair<std::pair<std::string_view, std::string_view>, std::uint64_t>;

/// The owners that hold most, by workspace and name; the others are one entry.
std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> slots_of_owners(
    const engine::Workspaces& workspaces, const WorkspaceNames& names) {
  std::vector<OwnerSlots> all;
  for (const auto& [name, workspace] : workspaces) {
    for (const auto& [owner, slots] : workspace.slots_of) {
      all.push_back({{names.shown(name), owner}, slots});
    }
  }
  std::sort(all.begin(), all.end(), [](const OwnerSlots& a, const OwnerSlots& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> shown;
  for (std::size_t i = 0; i < all.size(); ++i) {
    shown[i < most_named_owners ? all[i].first : std::pair(others, others)] += all[i].second;
  }
  return shown;
}

/// One sample for each named workspace that has the limit.
void add_limit(proto::PrometheusText& text, const engine::Workspaces& workspaces, const WorkspaceNames& names,
               std::optional<std::uint64_t> engine::Quota::*limit) {
  for (const auto& [name, workspace] : workspaces) {
    if (names.shown(name) == name && workspace.quota.*limit) {
      text.sample(static_cast<double>(*(workspace.quota.*limit)), {name});
    }
  }
}

}  // namespace

void add_quota_metrics(proto::PrometheusText& text, const Runtime* runtime, const WorkspaceNames& names) {
  const engine::Workspaces none;
  const engine::Workspaces& workspaces = runtime == nullptr ? none : runtime->engine().workspaces();
  std::map<std::string_view, std::uint64_t> slots;
  for (const auto& [name, workspace] : workspaces) {
    slots[names.shown(name)] += workspace.slots;
  }
  text.family("workspace_slots", gauge, "Slots that trials of a workspace hold.", {"workspace"});
  for (const auto& [name, held] : slots) {
    text.sample(static_cast<double>(held), {name});
  }
  text.family("workspace_slots_limit", gauge,
              "Most slots that the workspace may hold (max_slots of its quota); no sample if there is no "
              "limit.",
              {"workspace"});
  add_limit(text, workspaces, names, &engine::Quota::max_slots);
  text.family("owner_slots", gauge,
              "Slots that trials of one owner hold in a workspace: those of the 50 owners that hold most. "
              "The others are summed as `other`.",
              {"workspace", "owner"});
  for (const auto& [owner, held] : slots_of_owners(workspaces, names)) {
    text.sample(static_cast<double>(held), {owner.first, owner.second});
  }
  text.family("owner_slots_limit", gauge,
              "Most slots that each owner may hold in the workspace (max_slots_per_user of its quota); no "
              "sample if there is no limit.",
              {"workspace"});
  add_limit(text, workspaces, names, &engine::Quota::max_slots_per_user);
}

}  // namespace hpsearch::daemon
