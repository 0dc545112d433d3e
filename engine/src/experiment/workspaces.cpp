// Workspaces and their quotas. The engine counts what each one uses, therefore no two decisions can share the
// last slot of a quota.

#include <algorithm>
#include <string>
#include <vector>

#include "applier.hpp"
#include "event_checks.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/experiment/workspace.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

constexpr std::size_t most_name_chars = 63;
constexpr std::size_t most_names_listed = 10;

bool is_lower_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// "default, nlp, vision"
std::string known_names(const Workspaces& workspaces) {
  std::string text;
  std::size_t listed = 0;
  for (const auto& [name, workspace] : workspaces) {
    if (listed == most_names_listed) {
      return text + " and " + std::to_string(workspaces.size() - listed) + " others";
    }
    text += (listed == 0 ? "" : ", ") + name;
    ++listed;
  }
  return text;
}

Error no_workspace(const Workspaces& workspaces, std::string_view name, Errc code) {
  std::vector<std::string> names;
  for (const auto& [known, workspace] : workspaces) {
    names.push_back(known);
  }
  const std::string_view near = nearest(name, names);
  return Error{code, "there is no workspace \"" + std::string(name) + "\"" +
                         (near.empty() ? "" : " (did you mean " + std::string(near) + "?)") +
                         "; known workspaces: " + known_names(workspaces)};
}

std::string in_quotes(const std::string& name) {
  return "workspace \"" + name + "\"";
}

}  // namespace

std::string_view workspace_of(const ExperimentConfig& config) noexcept {
  return config.workspace.empty() ? default_workspace : std::string_view(config.workspace);
}

bool is_workspace_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= most_name_chars && is_lower_or_digit(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

std::optional<SlotQuotaReached> slot_quota_reached(const WorkspaceRecord& workspace, std::string_view owner,
                                                   std::uint64_t slots) noexcept {
  if (slots == 0) {
    return std::nullopt;
  }
  const Quota& quota = workspace.quota;
  const auto exceeds = [slots](std::uint64_t used, std::uint64_t most) {
    return slots > most || used > most - slots;
  };
  if (quota.max_slots && exceeds(workspace.slots, *quota.max_slots)) {
    return SlotQuotaReached{false, workspace.slots, *quota.max_slots};
  }
  if (quota.max_slots_per_user) {
    const auto found = workspace.slots_of.find(owner);
    const std::uint64_t used = found == workspace.slots_of.end() ? 0 : found->second;
    if (exceeds(used, *quota.max_slots_per_user)) {
      return SlotQuotaReached{true, used, *quota.max_slots_per_user};
    }
  }
  return std::nullopt;
}

WorkspaceRecord& workspace_named(EngineState& state, std::string_view name) {
  const auto known = state.workspaces.find(name);
  if (known != state.workspaces.end()) {
    return known->second;
  }
  WorkspaceRecord& made = state.workspaces[std::string(name)];
  made.name = name;
  return made;
}

void count_slots(EngineState& state, const ExperimentRecord& record, std::int64_t more) {
  if (more == 0) {
    return;
  }
  WorkspaceRecord& workspace = workspace_named(state, record.workspace->name);
  const auto change = static_cast<std::uint64_t>(more);  // Modulo 2^64, as it should be for less.
  workspace.slots += change;
  const auto user = workspace.slots_of.try_emplace(record.owner, 0).first;
  user->second += change;
  if (user->second == 0) {
    workspace.slots_of.erase(user);
  }
  if (more < 0) {
    offer_again(state, workspace);
  }
}

void offer_again(EngineState& state, WorkspaceRecord& workspace) {
  for (const ExperimentId id : workspace.held_back) {
    if (const auto found = state.experiments.find(id); found != state.experiments.end()) {
      touch(state, found->second);
    }
  }
  workspace.held_back.clear();
}

Status may_submit(const EngineState& state, const ExperimentConfig& config) {
  const std::string_view name = workspace_of(config);
  const auto found = state.workspaces.find(name);
  if (found == state.workspaces.end()) {
    return state.checks_workspaces ? Status(no_workspace(state.workspaces, name, Errc::bad_request))
                                   : Status(Done{});
  }
  if (Status free = may_begin(found->second); !free) {
    return free;
  }
  return may_plan(state, found->second, config);
}

Status may_begin(const WorkspaceRecord& workspace) {
  const auto& most = workspace.quota.max_active_experiments;
  if (!most || workspace.active < *most) {
    return Done{};
  }
  return Error{Errc::quota, in_quotes(workspace.name) + " has " + std::to_string(workspace.active) +
                                " experiments that have not ended, and its quota is " +
                                std::to_string(*most) + " (max_active_experiments)"};
}

Status may_plan(const EngineState& state, const WorkspaceRecord& workspace, const ExperimentConfig& config) {
  const auto& most = workspace.quota.max_trials_per_experiment;
  const SearcherKind* kind = most ? find_kind(state.registry, config.searcher.name) : nullptr;
  if (kind == nullptr) {
    return Done{};
  }
  const Preview planned = kind->preview(config);
  const Cardinality trials =
      planned.trials >= past_counting - planned.repeats ? past_counting : planned.trials + planned.repeats;
  if (trials <= *most) {
    return Done{};
  }
  return Error{Errc::quota, "the search plans " + (trials == past_counting ? "countless" : to_text(trials)) +
                                " trials, and the quota of " + in_quotes(workspace.name) + " is " +
                                std::to_string(*most) + " for one experiment (max_trials_per_experiment)"};
}

Status create_workspace(Step& step, const CreateWorkspace& command) {
  if (!is_workspace_name(command.name)) {
    return Error{Errc::bad_request, "name is \"" + command.name +
                                        "\"; it must be 1 to 63 lower-case letters, digits and \"-\", and "
                                        "must not begin with \"-\""};
  }
  const auto found = step.state().workspaces.find(command.name);
  const bool exists = found != step.state().workspaces.end() &&
                      (found->second.created_at || command.name == default_workspace);
  if (exists) {
    return Error{Errc::wrong_state, "there is a workspace \"" + command.name + "\" already"};
  }
  step.emit(WorkspaceCreated{command.name});
  return Done{};
}

Status change_quota(Step& step, const ChangeQuota& command) {
  const Workspaces& all = step.state().workspaces;
  const auto found = all.find(command.workspace);
  if (found == all.end()) {
    return no_workspace(all, command.workspace, Errc::not_found);
  }
  const Quota& quota = command.quota;
  if (!(found->second.quota == quota)) {
    step.emit(QuotaChanged{command.workspace, quota.max_slots, quota.max_slots_per_user,
                           quota.max_active_experiments, quota.max_trials_per_experiment});
  }
  return Done{};
}

void apply(const Applier& applier, const WorkspaceCreated& created) {
  WorkspaceRecord& workspace = workspace_named(applier.state, created.workspace);
  workspace.created_at = applier.event.at;
  workspace.creator = created.actor;
  applier.state.checks_workspaces = true;
}

std::string problem_with(const EventChecks& checks, const WorkspaceCreated& created) {
  const auto found = checks.state.workspaces.find(created.workspace);
  return found != checks.state.workspaces.end() && found->second.created_at
             ? in_quotes(created.workspace) + " exists already"
             : "";
}

void apply(const Applier& applier, const QuotaChanged& changed) {
  WorkspaceRecord& workspace = workspace_named(applier.state, changed.workspace);
  workspace.quota = {changed.max_slots, changed.max_slots_per_user, changed.max_active_experiments,
                     changed.max_trials_per_experiment};
  offer_again(applier.state, workspace);
}

std::string problem_with(const EventChecks& checks, const QuotaChanged& changed) {
  return checks.state.workspaces.contains(changed.workspace)
             ? ""
             : in_quotes(changed.workspace) + " does not exist";
}

}  // namespace hpsearch::engine
